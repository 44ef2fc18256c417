import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newId, type OrgId, type RunId } from '@methods/base/ids';
import type { Sql } from '@methods/postgres/pool';
import { newFacts, TestStore } from '../store/run-store.fixture.ts';
import { KeptStepReads } from './grant-desk.ts';

describe('the kept steps of claimed runs', () => {
  let db: TestStore;
  let sql: Sql;

  before(async () => {
    db = await TestStore.open();
    sql = db.sql;
  });
  after(() => db.close());

  /** `outs`: the lengths of its steps' outs. */
  async function runWith(outs: readonly number[], orgId = 'org_a'): Promise<{ orgId: OrgId; runId: RunId }> {
    const { runId } = newFacts(0);
    for (const [seq, length] of outs.entries()) {
      await sql`insert into scheduler.steps (run_id, org_id, path, seq, status, view_json, out_json)
        values (${runId}, ${orgId}, ${`step${seq}`}, ${seq}, 'succeeded', '{}', ${'x'.repeat(length)})`;
    }
    return { orgId: orgId as OrgId, runId };
  }

  function counted() {
    const statements: string[] = [];
    const reads = new KeptStepReads({
      keptSteps(orgId, runId) {
        statements.push(runId);
        return db.store.keptSteps(orgId, runId);
      },
      keptStepsOf(runs) {
        statements.push(`${runs.length} runs`);
        return db.store.keptStepsOf(runs);
      },
    });
    return { reads, statements };
  }

  test('are read in one statement for all runs of a turn, each in its order', async () => {
    const runs = [await runWith([1, 2, 3]), await runWith([]), await runWith([4], 'org_b')];
    const { reads, statements } = counted();
    const found = await Promise.all(runs.map(({ orgId, runId }) => reads.of(orgId, runId)));
    assert.deepEqual(
      found.map((steps) => steps.map(({ path, outJson }) => [path, outJson?.length])),
      [
        [
          ['step0', 1],
          ['step1', 2],
          ['step2', 3],
        ],
        [],
        [['step0', 4]],
      ],
    );
    assert.deepEqual(statements, ['3 runs']);
  });

  test('are not shown to another organization', async () => {
    const [foreign, own] = [await runWith([1], 'org_b'), await runWith([1])];
    const { reads } = counted();
    const found = await Promise.all([reads.of('org_a', foreign.runId), reads.of('org_a', own.runId)]);
    assert.deepEqual(
      found.map((steps) => steps.length),
      [0, 1],
    );
  });

  test('are read run by run if they do not fit into one statement', async () => {
    const runs = await Promise.all(Array.from({ length: 5 }, () => runWith([1_000_000, 900_000, 5])));
    const small = await runWith([7]);
    const all = [...runs, small];
    const { reads, statements } = counted();
    const found = await Promise.all(all.map(({ orgId, runId }) => reads.of(orgId, runId)));
    assert.deepEqual(
      found.map((steps) => steps.map(({ outJson }) => outJson?.length)),
      [...runs.map(() => [1_000_000, 900_000, 5]), [7]],
    );
    const inOrder = all.map(({ runId }) => runId).sort();
    assert.deepEqual([statements[0], statements.slice(1).sort()], ['6 runs', inOrder.slice(2).sort()]);
  });

  test('fail with their read, for all of them', async () => {
    const fault = new Error('no database');
    const reads = new KeptStepReads({
      keptSteps: () => Promise.reject(fault),
      keptStepsOf: () => Promise.reject(fault),
    });
    const settled = await Promise.allSettled([newId('run'), newId('run')].map((runId) => reads.of('org_a', runId)));
    assert.deepEqual(
      settled.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
  });
});
