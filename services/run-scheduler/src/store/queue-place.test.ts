import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { ProductionId } from '@methods/base/ids';
import { silentLogger } from '@methods/logging/logger';
import { until } from '@methods/test/harness/until';
import { ReadyRuns } from '../queue/ready-runs.ts';
import { answer, ask, claim, giveBack, loseLease, returnGrant } from '../run/run.fixture.ts';
import type { Run } from '../run/run.ts';
import type { RunCommand } from '../run/run-command.ts';
import { newFacts, startOf, TestStore } from './run-store.fixture.ts';

/** The ways in which a run that has begun returns to its queue. */
const WAYS: Readonly<Record<string, readonly RunCommand[]>> = {
  'its worker drained': [claim('t1'), giveBack('t1', 1)],
  'its grant reached no worker': [claim('t1'), returnGrant('t1')],
  'its worker was lost': [claim('t1'), loseLease('t1')],
  'it was answered': [claim('t1'), ask('t1', 1, 'q_1'), answer('q_1', 'd1')],
  'its time has come': [
    claim('t1'),
    { type: 'sleep', token: 't1', seq: 1, waitMs: 0.001, folderId: null },
    { type: 'wake' },
  ],
};

describe('a run that returns to its queue', () => {
  let db: TestStore;

  before(async () => {
    db = await TestStore.open();
  });
  after(() => db.close());

  async function order(method: ProductionId, runs: readonly (Run | null)[]): Promise<(number | null)[]> {
    const page = await db.store.queuePage({ orgId: 'org_a', method }, { queuedAtMs: 0, runId: '' }, [0, 1], 100);
    return page.entries.map(({ runId }) => runs.findIndex((run) => run?.facts.runId === runId));
  }

  for (const [i, [why, commands]] of Object.entries(WAYS).entries()) {
    test(`keeps its place: ${why}`, async () => {
      const method = `wf_place${i}` as const;
      const started = (ageMs: number, nowMs: number) =>
        db.tell(null, startOf(newFacts(0, { method, createdAtMs: nowMs - ageMs })));
      const nowMs = await db.nowMs();
      const first = await started(3_000, nowMs);
      const others = [await started(2_000, nowMs), await started(1_000, nowMs)];
      const back = await db.tell(first, ...commands);
      assert.equal(back.status, 'queued');
      assert.deepEqual(await order(method, [first, ...others]), [0, 1, 2]);
    });

    test(`is claimed before those behind it, even if their page was read before: ${why}`, async () => {
      const method = `wf_head${i}` as const;
      const nowMs = await db.nowMs();
      const started = (ageMs: number) => db.tell(null, startOf(newFacts(0, { method, createdAtMs: nowMs - ageMs })));
      const first = await started(1_000);
      const running = await db.tell(first, ...commands.slice(0, -1));
      const behind = await started(500);
      let announced = false;
      const ready = new ReadyRuns({
        store: db.store,
        logger: silentLogger,
        ownedShards: () => [0],
        announce: () => {
          announced = true;
        },
      });
      ready.wanted({ orgId: 'org_a', method });
      await until('the page is read', () => announced);
      ready.committed(running, await db.tell(running, ...commands.slice(-1)));
      await turn();
      const taken = [await ready.take({ orgId: 'org_a', method }), await ready.take({ orgId: 'org_a', method })];
      assert.deepEqual(
        taken.map((entry) => entry?.runId),
        [first.facts.runId, behind.facts.runId],
      );
    });
  }
});
