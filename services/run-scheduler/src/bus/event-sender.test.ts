import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { silentLogger } from '@methods/logging/logger';
import { RunEventSchema } from '@methods/proto/event/v1/event_pb';
import { EventSender } from './event-sender.ts';
import { HeldBackEvents } from './held-back-events.ts';

function sender() {
  const heldBack = new HeldBackEvents();
  const open: (() => void)[] = [];
  const publisher = { publish: () => new Promise<void>((resolve) => open.push(resolve)) };
  return { sender: new EventSender({ publisher, heldBack, logger: silentLogger }), heldBack, open };
}

function event(run: number, bytes: number, seq = 1) {
  const runId = `run_${run}` as const;
  return {
    outboxId: `${runId}.${seq}`,
    orgId: 'org_a' as const,
    runId,
    shard: 0,
    seq,
    createdAtMs: 0,
    body: Buffer.alloc(bytes),
  };
}

test('events on their way to the bus are bounded by their bytes and by their count', async () => {
  for (const [count, bytes] of [
    [16, 1 << 20],
    [10_000, 0],
  ] as const) {
    const { sender: sending, open } = sender();
    for (let run = 0; run < count - 1; run++) sending.send(event(run, bytes));
    assert.equal(sending.isFull, false);
    sending.send(event(0, bytes, 2));
    assert.equal(sending.isFull, true);
    while (open.length > 0) {
      for (const arrive of open.splice(0)) arrive();
      await new Promise(setImmediate);
    }
    assert.equal(sending.isFull, false);
  }
});

test('an event too large for the bus is sent without its content, and later ones of its run follow it', async () => {
  const taken: { outboxId: string; body: Uint8Array }[] = [];
  const publish = async ({ outboxId, body }: { outboxId: string; body: Uint8Array }) => {
    if (body.length > 1_024) throw Object.assign(new Error('too large'), { code: 'too_large' });
    taken.push({ outboxId, body });
  };
  const heldBack = new HeldBackEvents();
  const sending = new EventSender({ publisher: { publish }, heldBack, logger: silentLogger });
  const resultJson = `"${'x'.repeat((4 << 20) - 1)}"`;
  const body = toBinary(
    RunEventSchema,
    create(RunEventSchema, { outboxId: 'run_1.1', event: 'succeeded', resultJson }),
  );
  const outcome = await sending.inOrder([{ ...event(1, 0), body }, event(1, 10, 2)]);
  assert.deepEqual(outcome, { sent: 2, by: 'sent' });
  assert.deepEqual(
    taken.map(({ outboxId }) => outboxId),
    ['run_1.1', 'run_1.2'],
  );
  const sent = fromBinary(RunEventSchema, taken[0]?.body ?? Buffer.of());
  assert.deepEqual([sent.outboxId, sent.resultJson, sent.contentLeftOut], ['run_1.1', '', true]);
});
