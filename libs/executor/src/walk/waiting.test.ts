import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '@methods/base/clock';
import { answering, TestServer } from '../kinds/http-server.fixture.ts';
import type { RunOutcome } from '../run-outcome.ts';
import { Attempts, methodOf } from './attempts.fixture.ts';

const server = new TestServer();
before(() => server.start());
after(() => server.stop());

/** Pauses are recorded and end at once. */
function quickClock() {
  const pausesMs: number[] = [];
  let skippedMs = 0;
  return {
    pausesMs,
    wallMs: () => systemClock.wallMs() + skippedMs,
    monotonicMs: () => systemClock.monotonicMs() + skippedMs,
    after: (delayMs: number, run: () => void) => {
      // A deadline of an http step is not a pause.
      if (delayMs === 30_000) return systemClock.after(delayMs, run);
      pausesMs.push(delayMs);
      skippedMs += delayMs;
      return systemClock.after(0, run);
    },
  };
}

/** Stops until the test moves it. */
function stillClock(nowMs: number) {
  const clock = { nowMs, wallMs: () => clock.nowMs, monotonicMs: () => clock.nowMs, after: systemClock.after };
  return clock;
}

function errorOf(outcome: RunOutcome) {
  assert.ok(outcome.status === 'failed', JSON.stringify(outcome));
  return outcome.error;
}

const fetching = (retry: string, more = '') =>
  methodOf(
    `steps:
  - name: get
    http: { get: "\${inputs.url}" }
    retry: ${retry}
    out: { id: string }
    ${more}
result: { id: =steps.get.id }`,
    'inputs: { url: string }',
  );

describe('retries', () => {
  const statuses = (...list: number[]) => {
    let at = 0;
    return (_: unknown, response: Parameters<TestServer['answer']>[1]) => {
      response.statusCode = list[at++] ?? 200;
      response.setHeader('content-type', 'application/json').end('{"id":"x"}');
    };
  };

  it('wait longer each time, up to the longest delay, and every try is recorded', async () => {
    const clock = quickClock();
    const method = fetching('{ max: 4, delay: 2s, factor: 3, max_delay: 10s }');
    const run = new Attempts(method, { inputs: { url: server.origin }, clock, random: () => 0.5 });
    const outcome = await answering(server, statuses(500, 503, 429), () => run.run());
    assert.equal(outcome.status, 'succeeded', JSON.stringify(outcome));
    assert.deepEqual(clock.pausesMs, [2000, 6000, 10_000]);
    const { tries } = run.record('get');
    assert.deepEqual(
      tries.map(({ error }) => error?.status ?? null),
      [500, 503, 429, null],
    );
    assert.ok(
      tries.every(
        (tried, at) =>
          tried.finishedAtMs >= tried.startedAtMs && tried.startedAtMs >= (tries[at - 1]?.finishedAtMs ?? 0),
      ),
    );
  });

  it('spread by a fifth to both sides', async () => {
    for (const [random, delayMs] of [
      [0, 800],
      [1, 1200],
    ] as const) {
      const clock = quickClock();
      const run = new Attempts(fetching('1'), { inputs: { url: server.origin }, clock, random: () => random });
      await answering(server, statuses(500), () => run.run());
      assert.deepEqual(clock.pausesMs, [delayMs]);
    }
  });

  it('come when the server asks for them, but not after the longest delay', async () => {
    const clock = quickClock();
    const run = new Attempts(fetching('{ max: 2, max_delay: 31s }'), { inputs: { url: server.origin }, clock });
    const asked = ['7', '3600'];
    const outcome = await answering(
      server,
      (_, response) => {
        const retryAfter = asked.shift();
        if (retryAfter === undefined) response.setHeader('content-type', 'application/json').end('{"id":"x"}');
        else response.writeHead(503, { 'retry-after': retryAfter }).end();
      },
      () => run.run(),
    );
    assert.equal(outcome.status, 'succeeded');
    assert.deepEqual(clock.pausesMs, [7000, 31_000]);
  });

  it('do not follow a permanent failure, nor a failed check', async () => {
    const run = new Attempts(fetching('3'), { inputs: { url: server.origin } });
    const outcome = await answering(server, statuses(404), () => run.run());
    assert.equal(errorOf(outcome).kind, 'http');
    assert.equal(run.record('get').tries.length, 1);
    const checked = new Attempts(fetching('3', 'ensure: [{ Never: out.id == "y" }]'), {
      inputs: { url: server.origin },
    });
    assert.equal(errorOf(await answering(server, statuses(), () => checked.run())).code, 'check_failed');
    assert.equal(checked.record('get').tries.length, 1);
  });

  it('follow a failed check if the condition allows it, and see the error', async () => {
    const clock = quickClock();
    let n = 0;
    const run = new Attempts(fetching('{ max: 5, if: true }', 'ensure: [{ It is the third: out.id == "3" }]'), {
      inputs: { url: server.origin },
      clock,
    });
    const outcome = await answering(
      server,
      (_, response) => response.setHeader('content-type', 'application/json').end(`{"id":"${++n}"}`),
      () => run.run(),
    );
    assert.equal(outcome.status, 'succeeded', JSON.stringify(outcome));
    assert.deepEqual(
      run.record('get').tries.map(({ error }) => error?.kind ?? null),
      ['check', 'check', null],
    );
    const only429 = new Attempts(fetching('{ max: 5, if: error.status == 429 }'), {
      inputs: { url: server.origin },
      clock,
    });
    const failed = await answering(server, statuses(429, 503), () => only429.run());
    assert.equal(errorOf(failed).kind, 'http');
    assert.equal(only429.record('get').tries.length, 2);
  });

  it('see the headers and the body of a mocked answer', async () => {
    const bodies = ['busy', 'busy', 'closed'];
    const wanted = '\'error.headers["retry-after"] == "5" && (error.body ?? "").includes("busy")\'';
    const run = new Attempts(fetching(`{ max: 5, if: ${wanted} }`), {
      inputs: { url: server.origin },
      clock: quickClock(),
      substitute: ({ tryNumber }) => ({
        error: { kind: 'http', status: 503, headers: { 'Retry-After': 5 }, body: bodies[tryNumber - 1] ?? 'late' },
      }),
    });
    assert.equal(errorOf(await run.run()).kind, 'http');
    assert.deepEqual(
      run.record('get').tries.map(({ error }) => error?.body),
      bodies,
    );
  });

  it('see the system code of a connection that failed', async () => {
    const closed = new TestServer();
    await closed.start();
    const gone = closed.origin;
    closed.stop();
    const run = new Attempts(fetching('{ max: 1, if: error.code == "ECONNREFUSED" }'), {
      inputs: { url: gone },
      clock: quickClock(),
    });
    assert.equal(errorOf(await run.run()).kind, 'network');
    assert.deepEqual(
      run.record('get').tries.map(({ error }) => error?.code),
      ['ECONNREFUSED', 'ECONNREFUSED'],
    );
  });
});

describe('the answer of an http step', () => {
  it('is visible to its checks, also without a declared out', async () => {
    const method = methodOf(
      `steps:
  - name: get
    http: { get: "\${inputs.url}" }
    ensure:
      - It is there: response.status == 200 && response.body.id == "r1"
      - It is gone: response.status == 404`,
      'inputs: { url: string }',
    );
    const run = new Attempts(method, { inputs: { url: server.origin } });
    assert.equal(errorOf(await run.run()).message, 'Check failed: It is gone');
    assert.deepEqual(run.record('get').checks[0]?.values, { 'response.body.id': 'r1', 'response.status': 200 });
  });
});

describe('wait', () => {
  const method = (wait: string, inputs = '{}') =>
    methodOf(
      `steps:
  - { name: pause, wait: ${wait} }
  - { name: then, node: "return {}" }`,
      `inputs: ${inputs}`,
    );
  const substitute = ({ step }: { step: { kind: string } }) => (step.kind === 'wait' ? null : { out: {} });

  it('waits a minute in place', async () => {
    const clock = quickClock();
    const run = new Attempts(method('1m'), { clock, substitute });
    assert.equal((await run.run()).status, 'succeeded');
    assert.equal(clock.pausesMs.length, 1);
    assert.equal(run.record('pause').status, 'succeeded');
  });

  it('sleeps when it is longer, until the time of its first attempt', async () => {
    const clock = stillClock(1_800_000_000_000);
    const run = new Attempts(method('2h'), { clock, substitute });
    const untilMs = clock.nowMs + 7_200_000;
    assert.deepEqual(await run.run(), { status: 'sleeping', untilMs });
    clock.nowMs += 1_000_000;
    assert.deepEqual(await run.run(), { status: 'sleeping', untilMs });
    clock.nowMs = untilMs;
    assert.equal((await run.run()).status, 'succeeded');
    assert.deepEqual(run.paths, ['pause', 'then']);
  });

  it('begins again where the clock was set back by more, and takes no longer than that', async () => {
    const clock = stillClock(1_900_000_000_000);
    const run = new Attempts(method('2h'), { clock, substitute });
    assert.deepEqual(await run.run(), { status: 'sleeping', untilMs: clock.nowMs + 7_200_000 });
    clock.nowMs -= 500 * 86_400_000;
    const untilMs = clock.nowMs + 7_200_000;
    assert.deepEqual(await run.run(), { status: 'sleeping', untilMs });
    clock.nowMs += 1_000_000;
    assert.deepEqual(await run.run(), { status: 'sleeping', untilMs });
    clock.nowMs = untilMs;
    assert.equal((await run.run()).status, 'succeeded');
  });

  it('waits for a time, and not at all when it is past', async () => {
    const clock = quickClock();
    const run = new Attempts(method('{ until: inputs.at }', '{ at: datetime }'), {
      clock,
      substitute,
      inputs: { at: '2020-01-01T00:00:00Z' },
    });
    assert.equal((await run.run()).status, 'succeeded');
    assert.deepEqual(clock.pausesMs, []);
    const far = new Attempts(method('{ until: inputs.at }', '{ at: datetime }'), {
      clock,
      substitute,
      inputs: { at: '2999-01-01T00:00:00Z' },
    });
    assert.equal(errorOf(await far.run()).kind, 'limit');
  });

  it("ends with the run's own time", async () => {
    const limited = methodOf(`limits: { run_timeout: 10s }
steps:
  - { name: pause, wait: 50s }`);
    const clock = quickClock();
    const run = new Attempts(limited, { clock });
    const error = errorOf(await run.run());
    assert.deepEqual([error.code, error.kind], ['run_timeout', 'timeout']);
    const late = new Attempts(limited, { clock: quickClock(), ranMs: 60_000 });
    assert.equal(errorOf(await late.run()).code, 'run_timeout');
  });
});
