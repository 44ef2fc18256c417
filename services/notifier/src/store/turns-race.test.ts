// Nodes that store, claim and record at the same time: no turn comes later than the deliveries that wait for it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newId, newRunId, type OrgId } from '@methods/base/ids';
import {
  claimRequest,
  type NotifierDatabase,
  notifierDatabase,
  planned,
} from '../../test/notifier-database.fixture.ts';
import { claimDeliveries } from './claim-deliveries.ts';
import { recordTries } from './record-tries.ts';
import { storeDeliveries } from './store-deliveries.ts';

let database: NotifierDatabase;
before(async () => {
  database = await notifierDatabase();
});
after(() => database[Symbol.asyncDispose]());

const RUNS = 40;
const EVENTS_OF_RUN = 6;

test('all deliveries go out, those of a run in order, while three nodes store and three claim and record', async () => {
  const { sql } = database;
  const orgs = [newId('org'), newId('org'), newId('org')];
  const order = new Map<string, number[]>();
  let stored = 0;
  let sent = 0;
  const store = async (orgId: OrgId) => {
    const runs = Array.from({ length: RUNS }, (_, i) => ({ orgId, runId: newRunId(i), host: `host${i % 4}` }));
    for (let seq = 1; seq <= EVENTS_OF_RUN; seq++) {
      await storeDeliveries(
        sql,
        runs.map((run) => planned({ ...run, seq })),
      );
    }
    stored++;
  };
  const send = async () => {
    let idle = 0;
    while (sent < orgs.length * RUNS * EVENTS_OF_RUN && idle < 500) {
      const { claimed } = await claimDeliveries(sql, claimRequest({ limit: 16 }));
      idle = claimed.length === 0 && stored === orgs.length ? idle + 1 : 0;
      for (const { runId, seq } of claimed) order.set(runId, [...(order.get(runId) ?? []), seq]);
      const result = { startedAtMs: 1, durationMs: 1, httpStatus: 200, error: '', answerStart: '' };
      const after = { status: 'delivered', waitMs: 0 } as const;
      const records = claimed.map((delivery) => ({ delivery, after, result }));
      const kept = await recordTries(sql, records);
      sent += kept.size;
    }
  };
  await Promise.all([...orgs.map(store), send(), send(), send()]);
  assert.equal(sent, orgs.length * RUNS * EVENTS_OF_RUN);
  for (const seqs of order.values())
    assert.deepEqual(
      seqs,
      [...seqs].sort((a, b) => a - b),
    );
});
