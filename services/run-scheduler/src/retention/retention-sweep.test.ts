import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { systemClock } from '@methods/base/clock';
import type { RunId } from '@methods/base/ids';
import { createLogger } from '@methods/logging/logger';
import { until } from '@methods/test/harness/until';
import { TestActors } from '../actor/test-actors.fixture.ts';
import { RegistryClient } from '../rpc/registry-client.ts';
import { ask, cancel, claim } from '../run/run.fixture.ts';
import type { Run } from '../run/run.ts';
import { newFacts, TestStore } from '../store/run-store.fixture.ts';
import { agedRun, ENDED, manyAgedRuns, SettingsStandIn } from './aged-runs.fixture.ts';
import { OldRuns } from './old-runs.ts';
import { RetentionSweep } from './retention-sweep.ts';

interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly runs?: number;
  readonly steps?: number;
  readonly error?: { readonly code: string };
}

describe('the sweep of old runs', () => {
  let db: TestStore;
  let node: TestActors;
  let settings: SettingsStandIn;
  let registry: RegistryClient;
  let sweep: RetentionSweep;
  let lines: LogLine[];

  before(async () => {
    db = await TestStore.open();
    settings = new SettingsStandIn();
    await settings.start();
  });
  after(async () => {
    await settings.stop();
    await db.close();
  });
  beforeEach(async () => {
    await db.sql`truncate scheduler.runs, scheduler.steps, scheduler.outbox, scheduler.queue, scheduler.deadlines`;
    node = await TestActors.on(db);
    settings.days.clear();
    settings.asked = 0;
    settings.days.set('org_a', 30).set('org_b', 365);
    lines = [];
    registry = new RegistryClient(settings.address, systemClock);
    sweep = newSweep();
  });
  afterEach(async () => {
    await sweep.stop();
    registry.stop();
  });

  function newSweep(): RetentionSweep {
    return new RetentionSweep({
      runs: new OldRuns({ sql: db.sql, deadlineMs: 60_000 }),
      retention: registry.retention,
      ownedShards: () => [...node.epochs.keys()],
      epochOf: (shard) => node.epochs.get(shard) ?? null,
      databaseClock: node.databaseClock,
      clock: systemClock,
      random: () => 0,
      sweepMs: 20,
      logger: createLogger({ name: 'test', destination: { write: (line) => lines.push(JSON.parse(line)) } }),
    });
  }

  async function ids(): Promise<string[]> {
    return (await db.sql<{ run_id: RunId }[]>`select run_id from scheduler.runs`).map((row) => row.run_id).sort();
  }

  const idsOf = (runs: readonly Run[]) => runs.map((run) => run.facts.runId).sort();
  const told = (msg: string) => lines.filter((line) => line.msg === msg);

  test('deletes runs that are older than their organization keeps, and leaves the rest', async () => {
    const kept = [
      await agedRun(db, 29),
      await agedRun(db, 40, ENDED, { endedDays: 10 }),
      await agedRun(db, 300, ENDED, { orgId: 'org_b' }),
      await agedRun(db, 9_000, ENDED, { orgId: 'org_unknown', shard: 1 }),
      await agedRun(db, 400, [claim('t1'), ask('t1', 1)], { shard: 2 }),
    ];
    for (const shard of [0, 1, 2, 3]) await agedRun(db, 31, ENDED, { shard });
    await agedRun(db, 366, ENDED, { orgId: 'org_b' });
    sweep.start();
    await until('the old ones are gone', async () => (await ids()).length <= kept.length);
    await until('it is logged', () => told('old runs deleted').length > 0);
    assert.deepEqual(await ids(), idsOf(kept));
    await sweep.stop();
    const said = told('old runs deleted').map(({ runs, steps }) => [runs, steps]);
    assert.deepEqual(said, [[5, 10]]);
    assert.equal((await db.sql`select from scheduler.steps`).length, 2 * (kept.length - 1));
  });

  test('skips many kept runs, in pages', async () => {
    await manyAgedRuns(db, 1_200, 300, 'org_b');
    await manyAgedRuns(db, 600, 100, 'org_a');
    sweep.start();
    await until('the old ones are gone', async () => (await ids()).length === 1_200);
    assert.equal((await db.sql`select from scheduler.runs where org_id = 'org_a'`).length, 0);
    assert.ok(settings.asked <= 2, `${settings.asked} times asked`);
  });

  test('deletes nothing while the registry is unavailable, and continues when it is back', async () => {
    const run = await agedRun(db, 4_000);
    await settings.stop();
    sweep.start();
    await until('it has failed twice', () => told('old runs could not be deleted; trying again later').length >= 2);
    assert.deepEqual(await ids(), idsOf([run]));
    assert.equal(lines[0]?.error?.code, 'unavailable');
    await settings.start();
    await until('it is gone', async () => (await ids()).length === 0);
  });

  test('deletes nothing in shards that have another owner, whether that is known or not', async () => {
    const taken = await agedRun(db, 31, ENDED, { shard: 1 });
    const lost = await agedRun(db, 31, ENDED, { shard: 2 });
    await agedRun(db, 31, ENDED, { shard: 3 });
    await node.takenElsewhere(1);
    node.epochs.delete(2);
    sweep.start();
    await until('two walks are over', () => settings.asked > 0 && told('old runs deleted').length > 0);
    assert.deepEqual(await ids(), idsOf([taken, lost]));
  });

  test('a changed retention counts at once when it is announced', async () => {
    const runs = [await agedRun(db, 50), await agedRun(db, 20)];
    settings.days.set('org_a', 60);
    assert.deepEqual([...(await registry.retention.of(['org_a']))], [['org_a', 60]]);
    settings.days.set('org_a', 40);
    registry.retention.changed('org_a');
    sweep.start();
    await until('the older one is gone', async () => (await ids()).length === 1);
    assert.deepEqual(await ids(), idsOf(runs.slice(1)));
  });

  test('deleted runs are gone everywhere, and their idempotency keys are free', async () => {
    const run = await agedRun(db, 31);
    const { runId, orgId, idempotencyHash, requestDigest } = run.facts;
    const late = await node.tell(run, cancel);
    assert.deepEqual([late.kind, late.kind === 'refused' && late.code], ['refused', 'run_finished']);
    const again = () => node.actors.startRun(newFacts(3, { idempotencyHash, requestDigest }), null);
    assert.equal((await again()).kind, 'replayed');
    sweep.start();
    await until('it is gone', async () => (await ids()).length === 0);
    assert.equal(await node.actors.read(runId), null);
    assert.equal(node.actors.resident({ runId, orgId }), null);
    assert.deepEqual(await node.tell(run, cancel), { kind: 'refused', code: 'not_found', run: null });
    const started = await again();
    assert.ok(started.kind === 'started' && started.run.facts.runId !== runId);
  });

  test('begins again after a while, with the runs that have become old since', async () => {
    sweep.start();
    for (let i = 0; i < 2; i++) {
      await agedRun(db, 31);
      await until('it is gone', async () => (await ids()).length === 0);
    }
  });
});
