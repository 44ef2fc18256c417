import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { getPriority } from 'node:os';
import { afterEach, describe, test } from 'node:test';
import { systemClock } from '@methods/base/clock';
import { ServiceError } from '@methods/errors/service-error';
import { until } from '@methods/test/harness/until';
import { JobFailed } from './job-thread.ts';
import type { TestJob } from './thread-body.fixture.ts';
import { ThreadPool, type ThreadPoolOptions } from './thread-pool.ts';

const pools: ThreadPool<TestJob, string>[] = [];
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.stop()));
});

function newPool(more: Partial<ThreadPoolOptions> = {}): ThreadPool<TestJob, string> {
  const body = new URL('./thread-body.fixture.ts', import.meta.url);
  const pool = new ThreadPool<TestJob, string>({ body, jobsName: 'waiting checks', ...more });
  pools.push(pool);
  return pool;
}

const small = { orgId: 'a', bytes: 10 };
const echo = (text: string): TestJob => ({ kind: 'echo', text });

/** A job that runs until it is let go. */
function held() {
  const until = new SharedArrayBuffer(4);
  const letGo = () => {
    Atomics.store(new Int32Array(until), 0, 1);
    Atomics.notify(new Int32Array(until), 0);
  };
  return { job: { kind: 'hold', until } as const, letGo };
}

describe('a pool of threads', { timeout: 300_000 }, () => {
  test('a job that takes too much memory, too long, or throws, fails on its own', async () => {
    const fails = (of: ReturnType<typeof newPool>, job: TestJob, fault: string) =>
      rejects(of.run(job, small), (error) => error instanceof JobFailed && error.fault === fault);
    const filled = newPool({ limits: { heapMibMax: 32, cpuMsMax: 60_000, wallMsMax: 120_000 } });
    const other = filled.run(echo('b'), { ...small, orgId: 'b' });
    await Promise.all([fails(filled, { kind: 'fill' }, 'too_much_memory'), other]);
    const pool = newPool({ limits: { cpuMsMax: 300, wallMsMax: 120_000 } });
    await fails(pool, { kind: 'spin', ms: 60_000 }, 'too_long');
    await rejects(pool.run({ kind: 'throw' }, small), (error: Error) => {
      match(error.message, /broke_down: TypeError/);
      return !error.message.includes('text of a caller');
    });
    equal(await pool.run(echo('after'), small), 'after');
  });

  test('jobs have a lower priority than the event loop of their process', async () => {
    equal(await newPool().run({ kind: 'nice' }, small), String(getPriority() + 3));
  });

  test('a thread starts with its first job, ends when no job came for five minutes, and another one follows', async () => {
    const idle: (() => void)[] = [];
    const clock = {
      ...systemClock,
      after(delayMs: number, run: () => void) {
        if (delayMs !== 300_000) return systemClock.after(delayMs, run);
        idle.push(run);
        return { cancel: () => void idle.splice(idle.indexOf(run), 1) };
      },
    };
    const threads = () => process.getActiveResourcesInfo().filter((name) => name === 'Worker').length;
    const before = threads();
    const pool = newPool({ clock });
    const first = await pool.run({ kind: 'thread' }, small);
    equal(await pool.run({ kind: 'thread' }, small), first);
    equal(idle.length, 1);
    idle[0]?.();
    const next = await pool.run({ kind: 'thread' }, small);
    equal(next === first, false);
    equal(idle.length, 1);
    await pool.stop();
    deepEqual([idle.length, threads()], [0, before]);
  });

  test('a job that got little of the processor is not to blame: unavailable', async () => {
    const pool = newPool({ limits: { wallMsMax: 300 } });
    const { job } = held();
    await rejects(pool.run(job, small), { code: 'unavailable' });
    // Its thread may take as long to start.
    await until('a job is done', () =>
      pool.run(echo('after'), small).then(
        (text) => text === 'after',
        () => false,
      ),
    );
  });

  test('an organization has one thread at a time, and large jobs leave one to small ones', async () => {
    const pool = newPool();
    const [first, other] = [held(), held()];
    const large = pool.run(first.job, { orgId: 'a', bytes: 100_000 });
    const done: string[] = [];
    const later = pool.run(echo('a'), small).then((text) => done.push(text));
    const otherLarge = pool.run(other.job, { orgId: 'b', bytes: 100_000 });
    for (let i = 0; i < 20; i++) done.push(await pool.run(echo('c'), { orgId: 'c', bytes: 10 }));
    equal(done.includes('a'), false);
    first.letGo();
    other.letGo();
    deepEqual([await large, await otherLarge], ['held', 'held']);
    await later;
    equal(done.at(-1), 'a');
  });

  test('beyond its share an organization gets 429 with the share, and others do not notice', async () => {
    const pool = newPool({ shares: { large: 2 } });
    const { job, letGo } = held();
    const waiting = [0, 1, 2].map(() => pool.run(job, { orgId: 'a', bytes: 100_000 }));
    await rejects(pool.run(job, { orgId: 'a', bytes: 100_000 }), (error) => {
      ok(error instanceof ServiceError);
      equal(error.code, 'rate_limited');
      deepEqual(error.facts, { share: 'organization', limit: '2' });
      equal(error.retryAfterMs, 2_000);
      return /at most 2 waiting checks of more than 16 KiB open/.test(error.message);
    });
    equal(await pool.run(echo('b'), { orgId: 'b', bytes: 10 }), 'b');
    letGo();
    deepEqual(await Promise.all(waiting), ['held', 'held', 'held']);
  });

  test('an organization that has used its time waits until its debt is paid, and others do not', async () => {
    let nowMs = 0;
    let pays: { readonly ms: number; readonly run: () => void } | null = null;
    let endOfWaiting = () => {};
    const pool = newPool({
      clock: {
        ...systemClock,
        monotonicMs: () => nowMs,
        after(ms, run) {
          if (ms === 8_000) endOfWaiting = run;
          // Otherwise a look at a job, or the end of its thread.
          else if (ms !== 250 && ms !== 300_000) pays = { ms, run };
          return { cancel() {} };
        },
      },
    });
    for (let spins = 0; pays === null && spins < 50; spins++) await pool.run({ kind: 'spin', ms: 200 }, small);
    const debt = pays as { readonly ms: number; readonly run: () => void } | null;
    ok(debt, 'its time is used');
    let done = false;
    const waits = pool.run(echo('a'), small).then(() => {
      done = true;
    });
    for (let i = 0; i < 10; i++) await pool.run(echo('b'), { ...small, orgId: 'b' });
    equal(done, false);
    const late = pool.run(echo('a'), small);
    endOfWaiting();
    await rejects(late, { code: 'rate_limited' });
    nowMs += debt.ms;
    debt.run();
    await waits;
  });

  test('a caller that has gone gives up its place in the queue', async () => {
    const pool = newPool({ shares: { small: 1 } });
    const { job, letGo } = held();
    const first = pool.run(job, small);
    const gone = new AbortController();
    const left = pool.run(echo('left'), { ...small, signal: gone.signal });
    gone.abort(new Error('gone'));
    await rejects(left, /gone/);
    const next = pool.run(echo('next'), small);
    letGo();
    deepEqual([await first, await next], ['held', 'next']);
  });

  test('a stop ends what runs and what waits', async () => {
    const pool = newPool();
    const { job } = held();
    const ends = [pool.run(job, small), pool.run(job, small)].map((run) => run.catch((error) => error.code));
    await until('the first runs', async () => (await pool.run(echo('b'), { ...small, orgId: 'b' })) === 'b');
    await pool.stop();
    deepEqual(await Promise.all(ends), ['unavailable', 'unavailable']);
    await rejects(pool.run(echo('late'), small), { code: 'unavailable' });
  });
});
