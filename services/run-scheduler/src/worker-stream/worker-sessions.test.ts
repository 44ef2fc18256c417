import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { newRunId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { silentLogger } from '@methods/logging/logger';
import { ManualClock } from '../manual-clock.fixture.ts';
import { type ClaimOffer, CountedWaiters } from '../queue/counted-waiters.fixture.ts';
import { HeldGrants } from './held-grants.ts';
import type { OwnerLink } from './owner-link.ts';
import type { ReportItem, ReportOutcome } from './worker-reports.ts';
import { WorkerSessions } from './worker-sessions.ts';
import { Stream, WORKER } from './worker-stream.fixture.ts';

const SHARDS = 4;
const KEY = { orgId: 'org_a' as const, method: 'wf_a' as const };

describe('workers of a node', () => {
  let clock: ManualClock;
  let held: HeldGrants;
  let waiters: CountedWaiters;
  let sessions: WorkerSessions;
  let offers: ClaimOffer[];
  let seen: string[];
  let reported: (outcome: ReportOutcome) => void;
  let reports: { item: ReportItem; done: (outcome: ReportOutcome) => void }[];
  let heartbeatsNow: string[];

  beforeEach(() => {
    clock = new ManualClock();
    held = new HeldGrants(clock);
    offers = [];
    seen = [];
    heartbeatsNow = [];
    reports = [];
    waiters = new CountedWaiters({
      nodeId: 'here',
      clock,
      send: (_to, offer) => offers.push(offer) > 0,
      interestChanged: () => {},
    });
    const owners: Pick<OwnerLink, 'report' | 'workerSeen' | 'heartbeatNow'> = {
      report: (_from, item, done) => {
        reported = done;
        reports.push({ item, done });
      },
      workerSeen: ({ session }) => seen.push(session),
      heartbeatNow: ({ runId }) => heartbeatsNow.push(runId),
    };
    sessions = new WorkerSessions({
      nodeId: 'here',
      clock,
      heartbeatMs: 15_000,
      leaseMs: 60_000,
      shardCount: SHARDS,
      waiters,
      admission: { admit: () => () => {} },
      held,
      owners: owners as OwnerLink,
      news: { changed: () => {} },
      logger: silentLogger,
    });
  });

  let nextToken = 0;

  /** A grant for one of the offers, or for a place that was not offered. */
  function grant(offer: Pick<ClaimOffer, 'workerSession' | 'creditId'>, epoch = 1) {
    const runId = newRunId(1);
    const token = `t${++nextToken}`;
    const delivered = { nodeId: 'here', shard: 1, orgId: 'org_a' as const, grant: { runId, token }, ...offer };
    return { runId, token, taken: sessions.deliver(delivered, epoch) };
  }

  function headOf(depth: number): void {
    waiters.headChanged('owner', KEY, { depth, queuedAtMs: 1, runId: 'run_1' });
  }

  test('workers are listed for their organization, in short, with their free places', () => {
    const methods = Array.from({ length: 60 }, (_, n) => `wf_${n}`);
    const said = { sdk: 's'.repeat(200), name: 'n'.repeat(200), host: 'box', features: ['python'] };
    const stream = new Stream(sessions).hello({ methods, ...said });
    stream.credits(2);
    new Stream(sessions, 'org_b').hello();
    grant({ workerSession: stream.session.id, creditId: 0 });
    const [worker, ...others] = sessions.list('org_a');
    assert.deepEqual([others.length, worker?.workerId, worker?.keyId, worker?.leaving], [0, WORKER, 'key_a', false]);
    assert.deepEqual([worker?.slots, worker?.free, worker?.methodsCount], [2, 1, 60]);
    assert.deepEqual([worker?.methods.length, worker?.sdk.length, worker?.name.length], [50, 100, 100]);
    assert.deepEqual([worker?.host, worker?.features], ['box', ['python']]);
    stream.end();
    assert.deepEqual(sessions.list('org_a'), []);
  });

  test('a worker that only sends hello gets its welcome and nothing else', () => {
    headOf(5);
    const stream = new Stream(sessions).hello();
    const node = { heartbeatMs: 15_000, leaseMs: 60_000, nodeId: 'here', features: ['last_record', 'device'] };
    const welcome = { ...node, orgId: 'org_a', keyId: 'key_a', contentGrants: [] };
    assert.deepEqual(stream.of('welcome'), [welcome]);
    assert.deepEqual([offers, stream.got.length], [[], 1]);
  });

  test('offers never more places than slots, for any number of credits', () => {
    const stream = new Stream(sessions).hello();
    stream.credits(1_000);
    stream.credits(1_000);
    headOf(100);
    assert.equal(offers.length, 2);
  });

  test('a run goes to the worker whose place it was claimed for, and is held', () => {
    const stream = new Stream(sessions).hello();
    stream.credits(1);
    headOf(1);
    const { runId, token, taken } = grant(offers[0] as ClaimOffer);
    assert.equal(taken, true);
    assert.deepEqual(stream.of('grant'), [{ runId, token }]);
    assert.equal(held.get(token)?.session, stream.session.id);
    assert.equal(waiters.freePlaces(), 0);
  });

  test('of two runs for one place after a slow claim, one is returned, and no place is lost or gained', () => {
    const stream = new Stream(sessions).hello();
    stream.credits(1);
    headOf(2);
    clock.forward(1_001);
    waiters.sweep();
    assert.equal(offers.length, 2);
    const [first, second] = offers as [ClaimOffer, ClaimOffer];
    assert.equal(grant(first).taken, true);
    assert.equal(grant(second).taken, false);
    assert.equal(waiters.freePlaces(), 0);
    waiters.headChanged('owner', KEY, null);
    stream.credits(1);
    assert.equal(waiters.freePlaces(), 1);
    headOf(5);
    assert.equal(offers.length, 3);
  });

  test('a grant of a former owner is returned, and the place is offered again', () => {
    const stream = new Stream(sessions).hello();
    stream.credits(1);
    headOf(1);
    held.barrier(1, 7);
    waiters.headChanged('owner', KEY, null);
    assert.equal(grant(offers[0] as ClaimOffer, 6).taken, false);
    assert.deepEqual([stream.of('grant'), waiters.freePlaces()], [[], 1]);
    headOf(1);
    assert.equal(grant(offers[1] as ClaimOffer, 7).taken, true);
  });

  test('a grant for a worker that is gone or leaving is returned', () => {
    const [gone, leaving] = [new Stream(sessions).hello(), new Stream(sessions).hello({ workerId: 'b'.repeat(32) })];
    for (const stream of [gone, leaving]) stream.credits(1);
    headOf(2);
    gone.end();
    leaving.says({ case: 'leave', value: {} });
    assert.equal(leaving.of('left').length, 1);
    for (const offer of offers) assert.equal(grant(offer).taken, false);
  });

  test('the runs that a connecting worker holds are recorded here and reported to the owners', () => {
    const runId = newRunId(2);
    const stream = new Stream(sessions).hello({ streamNumber: 3, held: [{ runId, token: 't' }] });
    assert.deepEqual(seen, [stream.session.id]);
    assert.deepEqual([held.get('t')?.runId, held.get('t')?.accepted], [runId, true]);
  });

  test('a worker cannot impersonate one of another organization by using its id', () => {
    const ours = new Stream(sessions).hello();
    ours.credits(1);
    const theirs = new Stream(sessions, 'org_b', 'key_b').hello();
    headOf(1);
    assert.notEqual(theirs.session.id, ours.session.id);
    grant(offers[0] as ClaimOffer);
    assert.deepEqual([ours.of('grant').length, theirs.of('grant').length, ours.closed], [1, 0, null]);
  });

  test("queues belong to the worker's own organization, regardless of the methods it names", () => {
    new Stream(sessions, 'org_b').hello({ methods: ['wf_a', 'wf_a', 'wf_b'] }).credits(1);
    assert.deepEqual(waiters.interest(), [
      { orgId: 'org_b', method: 'wf_a' },
      { orgId: 'org_b', method: 'wf_b' },
    ]);
    headOf(1);
    assert.deepEqual(offers, []);
  });

  for (const [what, ...items] of [
    ['anything before its hello', { case: 'credits', value: { count: 1 } }],
    ['an item of a kind nobody knows', hello(), { case: undefined }],
    ['a second hello', hello(), hello()],
    ['a worker id of its own making', hello({ workerId: 'me' })],
    ['a hello with more runs than a worker can hold', hello({ held: heldRuns(200) })],
    [
      'a heartbeat with more runs than a worker can hold',
      hello(),
      { case: 'heartbeat', value: { runs: heldRuns(200) } },
    ],
    ['a token that is none', hello({ held: [{ runId: newRunId(1), token: 'x'.repeat(65) }] })],
    ['a report about no run', hello(), { case: 'accepted', value: { runId: 'x', token: 't' } }],
  ] as const) {
    test(`a worker that says ${what} loses its stream`, () => {
      const stream = new Stream(sessions);
      assert.throws(() => stream.says(...items), RangeError);
    });
  }

  for (const [what, more] of [
    ['no methods', { methods: [] }],
    ['methods without end', { methods: Array.from({ length: 1_001 }, (_, i) => `wf_${i}` as const) }],
    ['a method whose name would be another queue’s', { methods: ['wf_a+python'] }],
    ['no slots', { slots: 0 }],
  ] as const) {
    test(`a hello with ${what} is refused with a reason`, () => {
      const { closed } = new Stream(sessions).hello(more);
      assert.ok(closed instanceof ServiceError && closed.code === 'invalid_request', String(closed));
    });
  }

  function hello(more: object = {}) {
    const runs = { methods: ['wf_a'], slots: 2, held: [], features: [] };
    const value = { workerId: WORKER, streamNumber: 1, ...runs, deviceKeyIds: [], deviceKeyFingerprints: [], ...more };
    return { case: 'hello', value };
  }

  function heldRuns(count: number) {
    return Array.from({ length: count }, (_, i) => ({ runId: newRunId(1), token: `t${i}` }));
  }

  test('a stream without a hello is closed after fifteen seconds, one with a hello is not', () => {
    const [silent, polite] = [new Stream(sessions), new Stream(sessions).hello()];
    clock.forward(15_000);
    assert.ok(silent.closed instanceof ServiceError);
    assert.equal(polite.closed, null);
  });

  test('the reply to a report goes to its stream, and an ended run is no longer held', () => {
    const stream = new Stream(sessions).hello();
    stream.credits(1);
    headOf(1);
    const { runId, token } = grant(offers[0] as ClaimOffer);
    stream.says({ case: 'finish', value: { runId, token, seq: 1 } });
    reported({ case: 'ack', value: { runId, seq: 1, token: 't' } });
    assert.deepEqual(stream.of('ack'), [{ runId, seq: 1, token: 't' }]);
    assert.equal(held.get(token), undefined);
  });

  for (const kind of ['finish', 'ask', 'sleep']) {
    test(`a record inside a ${kind} goes to the owner before it, and one acknowledgement is returned`, () => {
      const stream = new Stream(sessions).hello();
      const [runId, token] = [newRunId(1), 't'];
      const ack = (seq: number) => ({ case: 'ack' as const, value: { runId, seq, token } });
      const lastRecord = { runId: newRunId(2), token: 'other', seq: 4, outJson: '{}' };
      stream.says({ case: kind, value: { runId, token, seq: 5, lastRecord } });
      assert.deepEqual(
        reports.map(({ item }) => item),
        [
          { case: 'stepRecord', value: { runId, token, seq: 4, outJson: '{}' } },
          { case: kind, value: { runId, token, seq: 5, lastRecord: undefined } },
        ],
      );
      reports[0]?.done(ack(4));
      assert.equal(stream.of('ack').length, 0);
      reports[1]?.done(ack(5));
      assert.deepEqual(stream.of('ack'), [ack(5).value]);
    });
  }

  test('when a record inside another report is refused, the worker gets only that refusal', () => {
    const stream = new Stream(sessions).hello();
    const [runId, token] = [newRunId(1), 't'];
    const refused = (seq: number) => ({
      case: 'refused' as const,
      value: { runId, seq, code: 'invalid_request', message: '', token },
    });
    for (const first of [refused(1), { case: 'ack' as const, value: { runId, seq: 1, token } }]) {
      reports = [];
      stream.says({ case: 'finish', value: { runId, token, seq: 2, lastRecord: { seq: 1 } } });
      reports[0]?.done(first);
      reports[1]?.done(refused(2));
    }
    assert.deepEqual(stream.of('refused'), [refused(1).value, refused(2).value]);
  });

  test('runs held only because a worker listed them are those of its last list; granted ones are kept', () => {
    const named = (count: number) => heldRuns(count).map((run) => ({ ...run, token: `n${nextToken++}` }));
    const stream = new Stream(sessions).hello({ held: named(50) });
    stream.credits(1);
    headOf(1);
    const granted = grant(offers[0] as ClaimOffer);
    const kept = named(1);
    for (let i = 0; i < 20; i++) stream.says({ case: 'heartbeat', value: { runs: [...kept, ...named(50)] } });
    assert.equal(held.size, 52);
    assert.ok(held.get(granted.token) && held.get(kept[0]?.token ?? ''));
    stream.says({ case: 'heartbeat', value: { runs: [granted] } });
    assert.equal(held.size, 1);
  });

  test('a cancel is sent at once, and the next heartbeat that names the run goes to its owner at once', () => {
    const stream = new Stream(sessions).hello();
    stream.credits(1);
    headOf(1);
    const { runId, token } = grant(offers[0] as ClaimOffer);
    sessions.cancelNotice(stream.session.id, runId, token);
    assert.deepEqual(stream.of('cancel'), [{ runId, token }]);
    stream.says({ case: 'heartbeat', value: { runs: [{ runId, token }] } });
    assert.deepEqual(heartbeatsNow, [runId]);
  });
});
