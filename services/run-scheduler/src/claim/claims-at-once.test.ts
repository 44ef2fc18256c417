import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { QuestionId } from '@methods/base/ids';
import { silentLogger } from '@methods/logging/logger';
import { until } from '@methods/test/harness/until';
import { TestActors } from '../actor/test-actors.fixture.ts';
import { ManualClock } from '../manual-clock.fixture.ts';
import { CountedWaiters } from '../queue/counted-waiters.fixture.ts';
import { answer, ask, cancel, succeed } from '../run/run.fixture.ts';
import type { Run, RunningRun } from '../run/run.ts';
import { newFacts, TestStore } from '../store/run-store.fixture.ts';
import { type DeliveredGrant, GrantDesk } from '../worker-stream/grant-desk.ts';
import type { LeaseTable } from '../worker-stream/lease-table.ts';
import { ClaimsAtOnce } from './claims-at-once.ts';

const WORKER = 'org_a.worker.1';

describe('a run that is answered while a worker waits for it', () => {
  let db: TestStore;
  let node: TestActors;
  let waiters: CountedWaiters;
  let claims: ClaimsAtOnce;
  let delivered: DeliveredGrant[];
  let isEmpty: boolean;
  let granted: RunningRun[];

  before(async () => {
    db = await TestStore.open();
  });
  after(() => db.close());

  beforeEach(async () => {
    node = await TestActors.on(db);
    [delivered, granted, isEmpty] = [[], [], true];
    node.actors.listenEarly((run) => granted.push(run));
    waiters = new CountedWaiters({
      nodeId: 'here',
      clock: new ManualClock(),
      send: () => true,
      interestChanged: () => {},
    });
    const grants = new GrantDesk({
      store: node.store,
      leases: { add: () => {}, ended: () => {} } as unknown as LeaseTable,
      returnGrant: () => {},
      tooLarge: () => {},
      epochOf: () => 1,
      deliver: (grant) => delivered.push(grant) > 0,
      logger: silentLogger,
    });
    node.actors.listen(grants);
    node.actors.listenEarly((run) => grants.grantEarly(run));
    claims = new ClaimsAtOnce({
      nodeId: 'here',
      actors: node.actors,
      ready: { isEmpty: () => isEmpty },
      waiters,
      grants,
    });
    waiters.register(WORKER, [{ orgId: 'org_a', method: 'wf_a' }]);
    waiters.addCredits(WORKER, 1);
  });

  async function waiting(): Promise<Run> {
    const run = await node.running();
    const outcome = await node.tell(run, ask(run.token, 1, 'q_1', null));
    assert.ok(outcome.kind === 'accepted');
    node.batches.length = 0;
    return outcome.run;
  }
  const tell = (run: Run, command: Parameters<ClaimsAtOnce['tell']>[2], orgId = run.facts.orgId, seen?: Run) =>
    claims.tell(orgId, run.facts.runId, command, seen);
  const state = async (run: Run) => [(await db.load(run.facts.runId))?.status, waiters.freePlaces(), delivered.length];

  test('is claimed in the commit of the answer, and its caller gets it as the answer left it', async () => {
    const run = await waiting();
    const outcome = await tell(run, answer('q_1', 'aa'));
    assert.deepEqual([outcome.kind, outcome.kind === 'accepted' && outcome.run.status], ['accepted', 'queued']);
    assert.equal(node.batches.length, 1);
    const claimed = await db.load(run.facts.runId);
    assert.deepEqual([claimed?.status, claimed?.attempts, claimed?.answer?.digest], ['running', 1, 'aa']);
    assert.deepEqual(
      delivered.map(({ grant, workerSession, creditId }) => [grant.token, workerSession, creditId]),
      [[claimed?.token, WORKER, 1]],
    );
    assert.equal(grantedAnswer(), 'q_1');
    assert.equal(waiters.freePlaces(), 0);
  });

  test('is claimed by the row that was read if no actor holds it any more', async () => {
    const run = await waiting();
    node = await TestActors.on(db);
    claims = new ClaimsAtOnce({
      nodeId: 'here',
      actors: node.actors,
      ready: { isEmpty: () => isEmpty },
      waiters,
      grants: { expect: () => {}, forget: () => false },
    });
    await tell(run, answer('q_1', 'aa'), run.facts.orgId, run);
    assert.deepEqual([node.batches.length, (await db.load(run.facts.runId))?.status], [1, 'running']);
  });

  test('waits behind an older run, and if no worker has a place', async () => {
    const [first, second] = [await waiting(), await waiting()];
    isEmpty = false;
    await tell(first, answer('q_1', 'aa'));
    assert.deepEqual(await state(first), ['queued', 1, 0]);
    isEmpty = true;
    waiters.unregister(WORKER);
    await tell(second, answer('q_1', 'aa'));
    assert.deepEqual(await state(second), ['queued', 0, 0]);
  });

  test('returns the place if the answer is refused, arrives too late or belongs to another organization', async () => {
    const run = await waiting();
    assert.equal((await tell(run, answer('q_other', 'aa'))).kind, 'refused');
    assert.deepEqual(await state(run), ['waiting', 1, 0]);
    assert.equal((await tell(run, answer('q_1', 'aa'), 'org_b', run)).kind, 'refused');
    assert.deepEqual(await state(run), ['waiting', 1, 0]);
    await tell(run, cancel);
    assert.equal((await tell(run, answer('q_1', 'aa'), run.facts.orgId, run)).kind, 'refused');
    assert.deepEqual(await state(run), ['cancelled', 1, 0]);
  });

  test('returns the place if the commit fails', async () => {
    const run = await waiting();
    node.lose([0]);
    const outcome = await tell(run, answer('q_1', 'aa'), run.facts.orgId, run);
    assert.ok(outcome.kind === 'failed' && outcome.code === 'wrong_shard');
    assert.deepEqual(await state(run), ['waiting', 1, 0]);
  });

  /** Returns a run of a version that only computes, so it is granted before the commit of its answer. */
  async function waitingForEarlyGrant(): Promise<Run> {
    const token = 'first';
    const command = { type: 'claim', token, workerSession: WORKER, cleansUp: false } as const;
    void node.actors.startRun(newFacts(0, { webhookUrl: null }), command, { onlyComputes: true });
    const run = granted.at(-1);
    assert.ok(run);
    const outcome = await node.tell(run, ask(token, 1, 'q_1', null));
    assert.ok(outcome.kind === 'accepted');
    node.batches.length = 0;
    return outcome.run;
  }

  test('ends in the commit of its answer, and its caller still gets it as the answer left it', async () => {
    const run = await waitingForEarlyGrant();
    const told = tell(run, answer('q_1', 'aa'));
    const { grant } = await until('it is granted', () => delivered.at(-1));
    await node.tell(run, succeed(grant.token, 1));
    const outcome = await told;
    assert.ok(outcome.kind === 'accepted');
    const ended = await db.load(run.facts.runId);
    assert.deepEqual([node.batches.length, ended?.status, ended?.revision], [1, 'succeeded', run.revision + 1]);
    // The run's watchers have a newer state by then.
    assert.deepEqual([outcome.run.status, outcome.run.revision], ['queued', run.revision]);
    assert.equal(waiters.freePlaces(), 0);
  });

  test('has used its place once its grant is sent, even if its commit fails', async () => {
    const run = await waitingForEarlyGrant();
    const told = tell(run, answer('q_1', 'aa'));
    assert.equal(delivered.length, 1);
    node.lose([0]);
    assert.equal((await told).kind, 'failed');
    assert.deepEqual([waiters.freePlaces(), (await db.load(run.facts.runId))?.status], [0, 'waiting']);
  });

  const grantedAnswer = () => (delivered[0]?.grant.answer as { questionId?: QuestionId } | undefined)?.questionId;
});
