import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { silentLogger } from '@methods/logging/logger';
import { until } from '@methods/test/harness/until';
import { TestActors } from '../actor/test-actors.fixture.ts';
import { ManualClock } from '../manual-clock.fixture.ts';
import { ReadyRuns } from '../queue/ready-runs.ts';
import { cancel } from '../run/run.fixture.ts';
import { newFacts, TestStore } from '../store/run-store.fixture.ts';
import type { QueueKey } from '../store/run-store.ts';
import { type DeliveredGrant, GrantDesk } from '../worker-stream/grant-desk.ts';
import { quietLeases } from '../worker-stream/lease-table.fixture.ts';
import { ClaimRuns } from './claim-runs.ts';

describe('claims of queued runs', () => {
  let db: TestStore;
  let node: TestActors;
  let ready: ReadyRuns;
  let claims: ClaimRuns;
  let clock: ManualClock;
  let delivered: DeliveredGrant[];
  let returned: string[];
  let reachable: boolean;
  let key: QueueKey;
  let nextCredit: number;

  before(async () => {
    db = await TestStore.open();
  });
  after(() => db.close());

  beforeEach(async () => {
    node = await TestActors.on(db);
    key = { orgId: 'org_a', method: `wf_${newFacts(0).runId.slice(-8)}` };
    delivered = [];
    returned = [];
    reachable = true;
    nextCredit = 1;
    ready = new ReadyRuns({
      store: node.store,
      logger: silentLogger,
      ownedShards: () => [...node.epochs.keys()],
      announce: () => {},
    });
    const leases = quietLeases();
    const grants = new GrantDesk({
      store: node.store,
      leases,
      returnGrant: (runId, token) => {
        returned.push(runId);
        void node.actors.tell(null, runId, { type: 'return_grant', token });
      },
      tooLarge: () => {},
      epochOf: (shard) => node.epochs.get(shard) ?? null,
      deliver: (grant) => reachable && delivered.push(grant) > 0,
      logger: silentLogger,
    });
    node.actors.listen(grants);
    node.actors.listen({ committed: (old, run) => ready.committed(old, run) });
    clock = new ManualClock();
    claims = new ClaimRuns({ ready, actors: node.actors, grants, clock });
    node.actors.listen({ committed: (old, run) => claims.committed(old, run) });
  });

  async function wanted(): Promise<void> {
    ready.wanted(key);
    await until('the queue is read', () => ready.headOf(key) !== null || ready.isEmpty(key));
  }

  function claim(): Promise<boolean> {
    return claims.claim('node_worker', { key, workerSession: 'org_a.worker.1', creditId: nextCredit++, features: [] });
  }

  function started(shard = 0) {
    return node.started({ shard, method: key.method });
  }

  test('a run that no grant can carry is claimed at growing intervals and never blocks others for long', async () => {
    reachable = false;
    const stuck = await started();
    await wanted();
    for (let second = 0; second < 60; second++) {
      const before = returned.length;
      if (await claim()) await until('the grant comes back', () => returned.length > before);
      await until('it is queued again', async () => (await node.actors.read(stuck.facts.runId))?.status === 'queued');
      clock.forward(1_000);
    }
    assert.ok(returned.length > 5 && returned.length < 12, `${returned.length} claims in a minute`);
    reachable = true;
    const other = await started();
    await until('the other run is ready', async () => (await claim()) || delivered.length > 0);
    assert.equal(delivered[0]?.grant.runId, other.facts.runId);
    clock.forward(60_000);
    await until('the run is claimed', async () => (await claim()) && delivered.length === 2);
    assert.equal(delivered[1]?.grant.runId, stuck.facts.runId);
  });

  test('a place gets the oldest run of its queue, and the grant names place and session', async () => {
    const [first, second] = [await started(0), await started(1)];
    await wanted();
    assert.deepEqual([await claim(), await claim(), await claim()], [true, true, false]);
    assert.deepEqual(
      delivered.map((grant) => [grant.grant.runId, grant.creditId, grant.nodeId, grant.workerSession]),
      [
        [first.facts.runId, 1, 'node_worker', 'org_a.worker.1'],
        [second.facts.runId, 2, 'node_worker', 'org_a.worker.1'],
      ],
    );
    assert.equal((await db.load(first.facts.runId))?.status, 'running');
  });

  test("another organization's queue of the same method provides no run", async () => {
    await started();
    await wanted();
    const theirs = { orgId: 'org_b' as const, method: key.method };
    ready.wanted(theirs);
    const offer = { key: theirs, workerSession: 'org_b.worker.1', creditId: 1, features: [] };
    assert.equal(await claims.claim('node_worker', offer), false);
    assert.deepEqual(delivered, []);
  });

  test('runs that are no longer queued are skipped', async () => {
    const [gone, waiting] = [await started(), await started()];
    await wanted();
    await node.tell(gone, cancel);
    assert.equal(await claim(), true);
    assert.equal(delivered[0]?.grant.runId, waiting.facts.runId);
  });

  test('only one of many places that ask at the same moment gets the run', async () => {
    for (let i = 0; i < 3; i++) await started(i);
    await wanted();
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => claim()));
    assert.equal(outcomes.filter(Boolean).length, 3);
    assert.equal(new Set(delivered.map((grant) => grant.grant.runId)).size, 3);
  });

  test('a grant that cannot be delivered returns the run to its queue, uncounted, and the next place gets it', async () => {
    const run = await started();
    await wanted();
    reachable = false;
    assert.equal(await claim(), true);
    assert.deepEqual(returned, [run.facts.runId]);
    reachable = true;
    await until('it is queued again', () => ready.headOf(key) !== null);
    assert.equal(await claim(), true);
    assert.equal(delivered[0]?.grant.attempt, 1);
  });

  test('a claim whose commit happened without a reply is granted, once', async () => {
    const run = await started();
    await wanted();
    node.between = async (commit) => {
      node.between = (next) => next();
      await commit();
      throw new Error('connection lost');
    };
    assert.equal(await claim(), true);
    assert.deepEqual(
      delivered.map((grant) => grant.grant.runId),
      [run.facts.runId],
    );
    assert.equal(await claim(), false);
  });

  test('a claim that could not be committed leaves the run in the queue', async () => {
    const run = await started();
    await wanted();
    node.between = async () => {
      throw Object.assign(new Error('disk full'), { code: '53100' });
    };
    assert.equal(await claim(), false);
    node.between = (commit) => commit();
    assert.equal(ready.headOf(key)?.runId, run.facts.runId);
    assert.equal(await claim(), true);
  });

  test('runs of a lost shard are skipped, those of others are not', async () => {
    await started(1);
    const kept = await started(2);
    await wanted();
    await node.takenElsewhere(1);
    assert.equal(await claim(), true);
    assert.equal(delivered[0]?.grant.runId, kept.facts.runId);
  });
});
