// The outcomes of deliveries, and a notifier that runs while a test uses it.
import { until } from '@methods/test/harness/until';
import type { Notifier } from '../src/composition.ts';
import type { Event, NotifierStack } from './notifier-stack.fixture.ts';

export const url = (port: number) => `http://127.0.0.1:${port}/hook`;

/** The test file's stack, available once its tests run. */
export function deliveriesOf(stack: () => NotifierStack) {
  async function withNotifier<T>(
    settings: Readonly<Record<string, string>>,
    work: (notifier: Notifier) => Promise<T>,
  ): Promise<T> {
    const notifier = await stack().notifier(settings);
    try {
      return await work(notifier);
    } finally {
      await notifier.stop();
    }
  }

  async function statusOf(event: Event): Promise<{ status: string; tries: number } | undefined> {
    const [row] = await stack().database.sql<{ status: string; tries: number }[]>`
      select status, tries from notifier.deliveries
      where org_id = ${event.orgId ?? 'org_none'} and run_id = ${event.runId ?? 'run_none'} and seq = ${event.seq ?? 0}`;
    return row && { ...row };
  }

  const ended = (event: Event) =>
    until('the delivery ended', async () => {
      const row = await statusOf(event);
      return row === undefined || row.status === 'pending' ? null : row;
    });

  const confirmations = (event: Event, count: number) =>
    until('the event was confirmed', () => stack().confirmed.filter((id) => id === event.outboxId).length >= count);

  /** Of each try that failed, in order. */
  async function faultsOf(event: Event): Promise<string[]> {
    const rows = await stack().database.sql<{ error: string }[]>`
      select t.error from notifier.delivery_tries t join notifier.deliveries d using (org_id, delivery_id)
      where d.org_id = ${event.orgId ?? 'org_none'} and d.run_id = ${event.runId ?? 'run_none'} order by t.try`;
    return rows.map(({ error }) => error);
  }

  return { withNotifier, statusOf, ended, confirmations, faultsOf };
}
