import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { systemClock } from '@methods/base/clock';
import { silentLogger } from '@methods/logging/logger';
import { PeerItemSchema } from '@methods/proto/peer/v1/peer_service_pb';
import { until } from '@methods/test/harness/until';
import { TestActors } from '../actor/test-actors.fixture.ts';
import { ask, cancel, recordStep } from '../run/run.fixture.ts';
import type { Run } from '../run/run.ts';
import { TestStore } from '../store/run-store.fixture.ts';
import type { RunStore } from '../store/run-store.ts';
import { HeldGrants } from './held-grants.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import { type HeldReport, LeaseRecovery } from './lease-recovery.ts';

const LEASE_MS = 60_000;

describe('running runs of shards just taken', () => {
  let db: TestStore;
  let node: TestActors;
  let keeper: LeaseKeeper;
  let held: HeldGrants;
  let sessions: string[];
  /** The runs that other nodes report; null: they do not answer. */
  let peers: Map<string, Omit<HeldReport, 'nodeId'> | null>;
  let failReads: number;
  /** Runs whose workers were asked to stop, with the node that passed it on. */
  let notices: string[];
  /** Called between the read of the rows and their use, and while nodes are asked. */
  let meanwhile: { read: () => Promise<unknown>; asked: () => Promise<unknown> };
  /** Tokens of claims that are not decided yet. */
  let claiming: Set<string>;
  let recovery: LeaseRecovery;

  before(async () => {
    db = await TestStore.open();
  });
  after(() => db.close());

  beforeEach(async () => {
    await db.sql`delete from scheduler.runs`;
    node = await TestActors.on(db);
    held = new HeldGrants(systemClock);
    sessions = [];
    peers = new Map();
    failReads = 0;
    notices = [];
    meanwhile = { read: async () => {}, asked: async () => {} };
    claiming = new Set();
    keeper = new LeaseKeeper({
      nodeId: 'here',
      clock: systemClock,
      leaseMs: LEASE_MS,
      actors: () => node.actors,
      ownsRun: () => true,
      isMember: () => true,
      cancelNotice: (nodeId, { runId }) => notices.push(`${nodeId} ${runId}`),
      refuse: () => {},
      logger: silentLogger,
    });
    node.actors.listen(keeper);
    const runningOf: RunStore['runningOf'] = async (shards) => {
      if (failReads-- > 0) throw new Error('no database');
      const runs = await db.store.runningOf(shards);
      await meanwhile.read();
      return runs;
    };
    recovery = new LeaseRecovery({
      nodeId: 'here',
      store: { runningOf } as RunStore,
      actors: node.actors,
      keeper,
      held,
      sessions: () => sessions,
      peers: {
        send: () => true,
        connected: () => [...peers.keys()],
        async request(nodeId) {
          await meanwhile.asked();
          const report = peers.get(nodeId);
          if (!report) throw new Error('no answer');
          const value = { grants: [...report.grants], workerSessions: [...report.workerSessions] };
          return create(PeerItemSchema, { item: { case: 'heldReply', value } });
        },
      },
      epochOf: (shard) => node.epochs.get(shard) ?? null,
      isClaiming: (token) => claiming.has(token),
      clock: systemClock,
      logger: silentLogger,
    });
  });

  function holds(run: Run & { token: string }, heartbeatAgeMs: number, workerSession = 'worker.1') {
    return { runId: run.facts.runId, token: run.token, workerSession, heartbeatAgeMs, accepted: true };
  }

  function holdHere(run: Run & { token: string }, session = 'worker.1'): void {
    const { runId, shard, orgId } = run.facts;
    held.add({ runId, shard, token: run.token, orgId, session }, true);
  }

  function leaseOf(run: Run & { token: string }) {
    const lease = keeper.leases.get(run.facts.runId, run.token);
    return lease && { nodeId: lease.nodeId, ageMs: systemClock.monotonicMs() - lease.renewedAtMs };
  }

  async function statusOf(run: Run): Promise<string | undefined> {
    return (await db.load(run.facts.runId))?.status;
  }

  test("a run that a worker of this node holds continues under the worker's last sign of life", async () => {
    const run = await node.running();
    holdHere(run);
    await recovery.taken([0]);
    assert.equal(leaseOf(run)?.nodeId, 'here');
    assert.equal(await statusOf(run), 'running');
  });

  test('a run that a worker of another node holds has only the rest of its lease', async () => {
    const run = await node.running();
    peers.set('other', { grants: [holds(run, 45_000)], workerSessions: ['worker.1'] });
    await recovery.taken([0]);
    assert.equal(leaseOf(run)?.nodeId, 'other');
    assert.ok((leaseOf(run)?.ageMs ?? 0) >= 45_000);
  });

  test('a run that its connected worker does not hold was never granted: it is queued again, uncounted', async () => {
    const run = await node.running();
    peers.set('other', { grants: [], workerSessions: ['worker.1'] });
    await recovery.taken([0]);
    await until('it is queued', async () => (await statusOf(run)) === 'queued');
    assert.equal((await db.load(run.facts.runId))?.attemptOpen, true);
    assert.equal(leaseOf(run), null);
  });

  test('the same holds if the worker reconnected on a later stream, but not if only an earlier one is known', async () => {
    const [back, before] = [await node.running({}, 'worker.2'), await node.running({}, 'other.7')];
    sessions = ['worker.3', 'other.6'];
    await recovery.taken([0]);
    await until('it is queued', async () => (await statusOf(back)) === 'queued');
    assert.equal(await statusOf(before), 'running');
    assert.equal(leaseOf(before)?.nodeId, null);
  });

  test('a run that no node reports waits for its lease, and so does one whose node does not answer', async () => {
    const run = await node.running();
    peers.set('silent', null);
    await recovery.taken([0]);
    assert.deepEqual([leaseOf(run)?.nodeId, await statusOf(run)], [null, 'running']);
  });

  test('a run that its worker reported on and no longer holds keeps its lease: only time shows its outcome', async () => {
    const run = await node.running();
    await node.tell(run, recordStep(run.token, 1));
    sessions = ['worker.1'];
    await recovery.taken([0]);
    await until('it has a lease', () => leaseOf(run) !== null);
    assert.equal(await statusOf(run), 'running');
  });

  test('a cancelled run that its worker reported on and no longer holds is cancelled', async () => {
    const run = await node.running();
    await node.tell(run, recordStep(run.token, 1));
    await node.tell(run, cancel);
    sessions = ['worker.1'];
    await recovery.taken([0]);
    await until('it is cancelled', async () => (await statusOf(run)) === 'cancelled');
    assert.equal(leaseOf(run), null);
  });

  test("a worker's message that arrives meanwhile is younger than the row", async () => {
    const run = await node.running();
    keeper.heartbeats('other', [{ runId: run.facts.runId, token: run.token, ageMs: 0 }]);
    await until('its lease is there', () => leaseOf(run) !== null);
    sessions = ['worker.1'];
    await recovery.taken([0]);
    assert.deepEqual([leaseOf(run)?.nodeId, await statusOf(run)], ['other', 'running']);
  });

  for (const [when, during] of [
    ['before the take-over', 'before'],
    ['after its row was read', 'read'],
    ['while nodes are asked', 'asked'],
  ] as const) {
    test(`a run whose cancel was committed ${when} is sent to its worker at the take-over`, async () => {
      const run = await node.running();
      peers.set('other', { grants: [holds(run, 2_000)], workerSessions: ['worker.1'] });
      const cancelled = () => node.tell(run, cancel);
      if (during === 'before') await cancelled();
      else meanwhile[during] = cancelled;
      await recovery.taken([0]);
      assert.deepEqual(notices, [`other ${run.facts.runId}`]);
      // The worker's reply to the notice ends the run.
      keeper.heartbeats('other', [{ runId: run.facts.runId, token: run.token, ageMs: 0 }]);
      await until('it is cancelled', async () => (await statusOf(run)) === 'cancelled');
    });
  }

  test('a run that began to wait after its row was read gets no lease', async () => {
    const run = await node.running();
    holdHere(run);
    meanwhile.read = () => node.tell(run, ask(run.token, 1));
    await recovery.taken([0]);
    assert.deepEqual([leaseOf(run), keeper.leases.size], [null, 0]);
  });

  test('a run that this node is claiming is not queued again: its grant is on the way', async () => {
    const run = await node.running();
    sessions = ['worker.1'];
    claiming.add(run.token);
    await recovery.taken([0]);
    claiming.clear();
    await node.tell(run, recordStep(run.token, 1));
    assert.equal(await statusOf(run), 'running');
  });

  test('only runs of the shards taken are looked at', async () => {
    const run = await node.running({ shard: 1 });
    sessions = ['worker.1'];
    await recovery.taken([0, 2]);
    assert.equal(leaseOf(run), null);
    assert.equal(await statusOf(run), 'running');
  });

  test('a read of the database is repeated until it succeeds', async () => {
    const run = await node.running();
    failReads = 3;
    await recovery.taken([0]);
    assert.equal(failReads, -1);
    assert.notEqual(leaseOf(run), null);
  });

  test('a shard lost meanwhile is left to its next owner', async () => {
    const run = await node.running();
    failReads = 1_000;
    const taken = recovery.taken([0]);
    await until('it was tried', () => failReads < 999);
    node.lose([0]);
    await taken;
    assert.equal(leaseOf(run), null);
  });

  test('a node that was asked accepts no more grants of an earlier owner, and reports only the requested shards', async () => {
    const [asked, other] = [await node.running({ shard: 0 }), await node.running({ shard: 1 })];
    for (const run of [asked, other]) holdHere(run);
    sessions = ['worker.1'];
    const report = recovery.heldHere([{ shard: 0, epoch: 8 }]);
    assert.deepEqual(
      report.grants.map((grant) => grant.runId),
      [asked.facts.runId],
    );
    assert.deepEqual(report.workerSessions, ['worker.1']);
    assert.deepEqual([held.admits(0, 7), held.admits(0, 8), held.admits(1, 1)], [false, true, true]);
  });
});
