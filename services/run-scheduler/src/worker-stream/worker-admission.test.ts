import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { OrgId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { until } from '@methods/test/harness/until';
import { ManualClock } from '../manual-clock.fixture.ts';
import { CountedWaiters } from '../queue/counted-waiters.fixture.ts';
import { HelloPace } from './hello-pace.ts';
import { KnownMethods, WorkerAdmission } from './worker-admission.ts';
import type { WorkerSessions } from './worker-sessions.ts';
import { quietSessions, Stream } from './worker-stream.fixture.ts';

describe('connecting workers', () => {
  let clock: ManualClock;
  let waiters: CountedWaiters;
  let sessions: WorkerSessions;
  let asked: string[][];
  /** Null: every method is known without a request. */
  let findMethods: ((orgId: OrgId, names: readonly string[]) => Promise<string[]>) | null;

  beforeEach(() => {
    clock = new ManualClock();
    asked = [];
    findMethods = null;
    const known = new KnownMethods({
      find: (orgId, names) => {
        asked.push([...names]);
        return findMethods?.(orgId, names) ?? Promise.resolve([...names]);
      },
    });
    const methods = { unknown: (...args) => (findMethods === null ? null : known.unknown(...args)) } as KnownMethods;
    waiters = new CountedWaiters({ nodeId: 'here', clock, send: () => true, interestChanged: () => {} });
    const admission = new WorkerAdmission({ pace: new HelloPace(clock), methods, waiters });
    sessions = quietSessions(clock, { waiters, admission });
  });

  test('a hello that names an unknown method is refused with that name', async () => {
    findMethods = async (_orgId, names) => names.filter((name) => name !== 'wf_foreign');
    const foreign = new Stream(sessions).hello({ methods: ['wf_a', 'wf_foreign'] });
    await until('it is refused', () => foreign.closed !== null);
    assert.ok(foreign.closed instanceof ServiceError);
    assert.deepEqual(
      [foreign.closed.code, foreign.closed.message],
      ['not_found', 'The organization has no method wf_foreign.'],
    );
    assert.deepEqual(waiters.interest(), []);
    const own = new Stream(sessions).hello();
    assert.deepEqual([own.of('welcome').length, asked], [1, [['wf_a', 'wf_foreign']]]);
  });

  test('items that a worker sends while its methods are looked up are handled after its welcome', async () => {
    let answer: (names: string[]) => void = () => {};
    findMethods = () => new Promise((resolve) => (answer = resolve));
    const stream = new Stream(sessions).hello();
    stream.credits(1);
    assert.deepEqual([stream.got, waiters.freePlaces()], [[], 0]);
    answer(['wf_a']);
    await until('it is welcome', () => stream.of('welcome').length === 1 && waiters.freePlaces() === 1);
  });

  test('a worker that disconnects before its methods were found leaves nothing behind', async () => {
    let answer: (names: string[]) => void = () => {};
    findMethods = () => new Promise((resolve) => (answer = resolve));
    const stream = new Stream(sessions).hello();
    stream.end();
    answer(['wf_a']);
    await turn();
    assert.deepEqual([waiters.interest(), sessions.sessionIds()], [[], []]);
  });

  test('without the registry workers are admitted, and their methods are looked up again later', async () => {
    findMethods = async () => {
      throw new ServiceError('unavailable');
    };
    for (const workerId of ['a', 'b'].map((digit) => digit.repeat(32))) {
      const stream = new Stream(sessions).hello({ workerId });
      await until('it is welcome', () => stream.of('welcome').length === 1);
    }
    assert.equal(asked.length, 2);
  });

  const thousand = Array.from({ length: 1_000 }, (_, i) => `wf_${i}`);
  const features = ['python', 'shell', 'browser', 'agent'];

  test('a worker that dials in a loop waits in the line of its key; other keys do not', () => {
    const dialled = Array.from({ length: 20 }, () => {
      const stream = new Stream(sessions).hello({ methods: thousand, features });
      stream.end();
      return stream.of('welcome').length;
    });
    assert.deepEqual(dialled, [1, 1, 1, ...Array.from({ length: 17 }, () => 0)]);
    const last = new Stream(sessions).hello({ methods: thousand, features });
    const small = new Stream(sessions, 'org_a', 'key_b').hello({ workerId: 'b'.repeat(32) });
    assert.deepEqual([last.of('welcome').length, small.of('welcome').length], [0, 1]);
  });

  test('a waiting worker is welcomed when its turn comes, and refused when it waited too long', async () => {
    const streams = Array.from({ length: 12 }, (_, i) =>
      new Stream(sessions).hello({ methods: thousand, features, workerId: i.toString(16).repeat(32) }),
    );
    const welcome = () => streams.filter((stream) => stream.of('welcome').length === 1).length;
    assert.equal(welcome(), 3);
    for (const expected of [4, 5]) {
      clock.forward(1_700);
      await until('the next is welcome', () => welcome() === expected);
    }
    clock.forward(9_000);
    await until('the rest is refused', () => streams.every(({ got, closed }) => got.length > 0 || closed !== null));
    const refused = streams.find(({ closed }) => closed !== null)?.closed;
    assert.ok(refused instanceof ServiceError && refused.code === 'rate_limited');
  });

  test('one organization’s queues leave room for the others’, and a worker that does not fit gets the reason', () => {
    const many = (from: number) => Array.from({ length: 1_000 }, (_, i) => `wf_${from + i}`);
    const streams = [0, 1_000, 2_000].map((from, i) =>
      new Stream(sessions, 'org_a', `key_${i}`).hello({ methods: many(from), features, workerId: `${i}`.repeat(32) }),
    );
    assert.deepEqual(
      streams.map((stream) => stream.of('welcome').length),
      [1, 0, 0],
    );
    const [, refused] = streams;
    assert.ok(refused?.closed instanceof ServiceError && refused.closed.code === 'rate_limited');
    assert.match(refused.closed.message, /16000/);
    const other = new Stream(sessions, 'org_b', 'key_b').hello({ methods: thousand, features });
    assert.equal(other.of('welcome').length, 1);
    streams[0]?.end();
    clock.forward(5_001);
    waiters.sweep();
    const next = new Stream(sessions, 'org_a', 'key_c').hello({ methods: many(1_000), features });
    assert.equal(next.of('welcome').length, 1);
  });
});
