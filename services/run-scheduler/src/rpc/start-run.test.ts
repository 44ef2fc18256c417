import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { silentLogger } from '@methods/logging/logger';
import { StartRunSchema } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { TestActors } from '../actor/test-actors.fixture.ts';
import { ManualClock } from '../manual-clock.fixture.ts';
import { ClaimWaiters } from '../queue/claim-waiters.ts';
import { QueuedPages } from '../queue/queued-pages.fixture.ts';
import { ReadyRuns } from '../queue/ready-runs.ts';
import { TestStore } from '../store/run-store.fixture.ts';
import { type DeliveredGrant, GrantDesk } from '../worker-stream/grant-desk.ts';
import { quietLeases } from '../worker-stream/lease-table.fixture.ts';
import { StartRuns } from './start-run.ts';

const KEY = { orgId: 'org_a', method: 'wf_a' };
const WORKER = 'org_a.worker.1';
const code = (expected: string) => ({ name: 'ServiceError', code: expected });

describe('starts', () => {
  let db: TestStore;
  let node: TestActors;
  let waiters: ClaimWaiters;
  let ready: ReadyRuns;
  let starts: StartRuns;
  let delivered: DeliveredGrant[];
  let ids: string[];
  let nextShard: () => number | null;

  before(async () => {
    db = await TestStore.open();
  });
  after(() => db.close());

  beforeEach(async () => {
    node = await TestActors.on(db);
    [delivered, ids] = [[], []];
    let turn = 0;
    nextShard = () => turn++ % 4;
    ready = new ReadyRuns({
      store: new QueuedPages().store,
      logger: silentLogger,
      ownedShards: () => [0, 1, 2, 3],
      announce: () => {},
    });
    waiters = new ClaimWaiters({
      nodeId: 'here',
      clock: new ManualClock(),
      send: () => true,
      interestChanged: (queues) => {
        for (const key of queues) ready.wanted(key);
      },
    });
    const grants = new GrantDesk({
      store: node.store,
      leases: quietLeases(),
      returnGrant: () => {},
      tooLarge: () => {},
      epochOf: () => 1,
      deliver: (grant) => delivered.push(grant) > 0,
      logger: silentLogger,
    });
    node.actors.listen(grants);
    const { actors, databaseClock } = node;
    const owns = (shard: number) => node.epochs.has(shard);
    const nextStartShard = () => nextShard();
    starts = new StartRuns({
      nodeId: 'here',
      maxAttempts: 3,
      actors,
      databaseClock,
      ready,
      waiters,
      grants,
      nextStartShard,
      owns,
    });
  });

  function start(more: MessageInitShape<typeof StartRunSchema> = {}) {
    const [idempotencyHash, requestDigest] = [randomBytes(32), randomBytes(32)];
    const facts = { ...KEY, versionId: 'ver_a', inputsJson: '{}', keyId: 'key_a', idempotencyHash, requestDigest };
    return starts.start(create(StartRunSchema, { ...facts, ...more }), (runId) => ids.push(runId));
  }

  async function freePlaces(count: number): Promise<void> {
    waiters.register(WORKER, [KEY]);
    waiters.addCredits(WORKER, count);
    await new Promise(setImmediate);
  }

  test('a run is there before the start is answered, and its id was told before anything happened', async () => {
    const started = start();
    assert.equal(ids.length, 1);
    const { run, replayed } = await started;
    assert.deepEqual([run.facts.runId, run.status, replayed], [ids[0], 'queued', false]);
    assert.equal((await db.load(run.facts.runId))?.facts.maxAttempts, 3);
  });

  test("all starts of a turn go to one shard, those of the next to the node's next one", async () => {
    const shardsOf = async () => {
      const outcomes = await Promise.all(Array.from({ length: 5 }, () => start()));
      return [...new Set(outcomes.map(({ run }) => run.facts.shard))];
    };
    assert.deepEqual([await shardsOf(), await shardsOf()], [[0], [1]]);
  });

  test('where a worker waits the start and its claim are one commit, and the reply still says queued nowhere else', async () => {
    await freePlaces(1);
    const [first, second] = await Promise.all([start(), start()]);
    assert.deepEqual(
      delivered.map(({ grant, workerSession }) => [grant.runId, workerSession]),
      [[first.run.facts.runId, WORKER]],
    );
    assert.equal((await db.load(first.run.facts.runId))?.revision, 1);
    assert.equal((await db.load(second.run.facts.runId))?.status, 'queued');
    assert.equal(waiters.freePlaces(), 0);
  });

  test('a run does not pass an older one that waits', async () => {
    await freePlaces(1);
    ready.added(KEY, { runId: 'run_older', shard: 0, queuedAtMs: 1 });
    const { run } = await start();
    assert.deepEqual([run.status, delivered, waiters.freePlaces()], ['queued', [], 1]);
  });

  test('a repeat gives its place back and gets the first run', async () => {
    const [idempotencyHash, requestDigest] = [randomBytes(32), randomBytes(32)];
    const first = await start({ idempotencyHash, requestDigest });
    await freePlaces(1);
    const again = await start({ idempotencyHash, requestDigest });
    assert.deepEqual([again.replayed, again.run.facts.runId], [true, first.run.facts.runId]);
    await assert.rejects(start({ idempotencyHash }), code('idempotency_conflict'));
    assert.deepEqual([delivered, waiters.freePlaces()], [[], 1]);
  });

  test('a value that cannot be stored, and a node without shards, are told apart; no place is lost', async () => {
    await freePlaces(1);
    await assert.rejects(start({ inputsJson: '"\0"' }), code('invalid_request'));
    node.lose([0, 1, 2, 3]);
    nextShard = () => null;
    await assert.rejects(start(), code('unavailable'));
    assert.equal(waiters.freePlaces(), 1);
  });
});
