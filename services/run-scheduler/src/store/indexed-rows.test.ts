import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '@methods/test/harness/until';
import { queueHeadsQuery } from './indexed-rows.ts';
import { TestStore } from './run-store.fixture.ts';

const LEFT = 5_000;

test('a look at the head of a queue passes over the runs that have left it only until one has marked them', async () => {
  const db = await TestStore.open();
  try {
    await db.sql`alter table scheduler.queue set (autovacuum_enabled = off)`;
    await db.sql`insert into scheduler.queue (run_id, org_id, method, queued_at_ms, shard)
      select 'run_' || n, 'org_a', 'wf_long', n, 0 from generate_series(1, ${LEFT + 100}) n`;
    await db.sql`delete from scheduler.queue where queued_at_ms <= ${LEFT}`;
    const rowsFetched = async (): Promise<number> => {
      const lines = await db.outbox.unsafe<{ 'QUERY PLAN': string }[]>(`explain (analyze) ${queueHeadsQuery}`, [
        ...['{org_a}', '{wf_long}', '{0}'],
      ]);
      const fetched = /Heap Fetches: (\d+)/.exec(lines.map((line) => line['QUERY PLAN']).join('\n'))?.[1];
      return Number(fetched);
    };
    const first = await rowsFetched();
    assert.ok(first > LEFT, `${first} rows`);
    // A statistics run of the database may see the runs for a moment longer.
    await until('a look marks the runs that left', async () => (await rowsFetched()) <= 64);
  } finally {
    await db.close();
  }
});
