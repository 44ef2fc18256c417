// What receivers got: every event at least once, first tries of a run in order, the same bytes at each try, signed.
import { groupedBy, type History, lastSeen, type ReceivedWebhook } from './history.ts';

/** Sentences about what went wrong; none when all is well. */
export function checkWebhooks({ lives, webhooks }: History): string[] {
  const byPath = groupedBy(webhooks, ({ path }) => path);
  return lives.flatMap((life) => {
    const run = lastSeen(life);
    if (life.webhookPath === null || run === null) return [];
    const received = byPath.get(life.webhookPath) ?? [];
    const delivered = new Set(received.filter(({ status }) => status < 300).map(({ event }) => event));
    const due = [run.status, ...(life.kind === 'asked' && run.status === 'succeeded' ? ['needs_input'] : [])];
    return [
      ...due.filter((event) => !delivered.has(event)).map((event) => `${run.runId}: ${event} was never delivered`),
      ...received.filter(({ runId }) => runId !== run.runId).map(() => `${run.runId}: another run's webhook came`),
      ...received.filter(({ signed }) => !signed).map(() => `${run.runId}: a webhook was not signed`),
      ...checkOrder(run.runId, received),
      ...checkBodies(run.runId, received),
    ];
  });
}

function checkOrder(runId: string, received: readonly ReceivedWebhook[]): string[] {
  const seen = new Set<string>();
  let last = 0;
  for (const { deliveryId, seq } of received) {
    if (seen.has(deliveryId)) continue;
    seen.add(deliveryId);
    if (seq < last) return [`${runId}: event ${seq} was first sent after event ${last}`];
    last = seq;
  }
  return [];
}

function checkBodies(runId: string, received: readonly ReceivedWebhook[]): string[] {
  const bodies = new Map<string, string>();
  const events = new Map<number, string>();
  for (const { deliveryId, bodySha256, seq } of received) {
    if ((bodies.get(deliveryId) ?? bodySha256) !== bodySha256) return [`${runId}: a delivery changed its body`];
    if ((events.get(seq) ?? deliveryId) !== deliveryId) return [`${runId}: event ${seq} has two deliveries`];
    bodies.set(deliveryId, bodySha256);
    events.set(seq, deliveryId);
  }
  return [];
}
