import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import type { Clock } from '@methods/base/clock';
import { RunStatus, RunViewSchema, StepStatus } from '@methods/proto/run/v1/run_pb';
import { runEvents } from '../views/run-events.ts';
import { runViewInParts, runViewJson } from '../views/run-view.ts';
import { LongWork } from './long-work.ts';

/** Every reading of the clock is 3 ms later; the test ends rests. */
function held() {
  let nowMs = 0;
  const rests: { ms: number; end: () => void }[] = [];
  const clock: Clock = {
    wallMs: () => nowMs,
    monotonicMs: () => {
      nowMs += 3;
      return nowMs;
    },
    after(ms, end) {
      rests.push({ ms, end });
      return { cancel() {} };
    },
  };
  return { work: new LongWork(clock), rests };
}

function* counted(order: string[], name: string, steps: number): Generator<undefined, number> {
  for (let n = 0; n < steps; n++) {
    order.push(name);
    yield;
  }
  return steps;
}

test('work is done in slices, in turn by organization, with a rest after each', async () => {
  const { work, rests } = held();
  const order: string[] = [];
  const long = work.run('a', 1, counted(order, 'long', 9));
  const longer = work.run('a', 1, counted(order, 'longer', 9));
  const other = work.run('b', 1, counted(order, 'other', 2));
  assert.deepEqual(order.splice(0), ['long', 'long', 'long']);
  assert.ok((rests[0]?.ms ?? 0) >= 4 * 9, `rests ${rests[0]?.ms} ms`);
  rests[0]?.end();
  rests[1]?.end();
  assert.deepEqual(order, ['long', 'long', 'long', 'other', 'other']);
  assert.equal(await other, 2);
  for (let turn = 2; turn < 9; turn++) rests[turn]?.end();
  assert.deepEqual(await Promise.all([long, longer]), [9, 9]);
});

test('work that throws fails, and the next one has its turn', async () => {
  const { work, rests } = held();
  const failing = work.run(
    'a',
    1,
    // biome-ignore lint/correctness/useYield: it ends at once
    (function* () {
      throw new Error('no');
    })(),
  );
  await assert.rejects(failing, /no/);
  const next = work.run('a', 1, counted([], 'next', 1));
  rests[0]?.end();
  assert.equal(await next, 1);
});

const STEPS = 30_000;
const DECLARED = Array.from({ length: 500 }, (_, n) => ({ name: `loop${n}`, kind: 'node' }));
const LONG_RUN = create(RunViewSchema, {
  runId: 'run_1',
  method: 'wf_1',
  versionId: 'ver_1',
  status: RunStatus.SUCCEEDED,
  steps: Array.from({ length: STEPS }, (_, n) => ({
    path: `loop${n % 500}[${n}]`,
    kind: 'node',
    status: StepStatus.SUCCEEDED,
    attempt: 1,
    startedAtMs: 1_700_000_000_000 + n,
    finishedAtMs: 1_700_000_000_000 + n,
  })),
});

for (const [name, work] of [
  ['view', () => runViewInParts(LONG_RUN, DECLARED, 0)],
  ['events', () => runEvents(null, LONG_RUN, DECLARED, 0)],
] as const) {
  test(`the ${name} of a run with 30,000 steps may be left every 50 steps, and no part holds the loop`, () => {
    let most = Number.POSITIVE_INFINITY;
    let parts = 0;
    // Takes the quickest of some rounds, since the machine is shared.
    for (let round = 0; round < 10 && most > 25; round++) {
      const parted: Iterator<unknown, unknown> = work();
      let slowest = 0;
      parts = 0;
      for (let done = false; !done; parts++) {
        const before = process.cpuUsage();
        done = parted.next().done === true;
        const { user, system } = process.cpuUsage(before);
        slowest = Math.max(slowest, (user + system) / 1_000);
      }
      most = Math.min(most, slowest);
    }
    assert.ok(parts >= STEPS / 50, `${parts} parts`);
    // All of it takes hundreds.
    assert.ok(most < 100, `a part took ${most} ms`);
  });
}

test('steps that are recorded inside declared ones follow them, with any other records', () => {
  const run = create(RunViewSchema, {
    status: RunStatus.SUCCEEDED,
    steps: ['b[0]/x', '@require', 'a', 'gone', 'b', 'a/y', 'b[1]'].map((path) => ({ path, kind: 'node' })),
  });
  const declared = ['a', 'b', 'c'].map((name) => ({ name, kind: 'node' }));
  const { steps } = JSON.parse(runViewJson(run, declared, 0));
  const names = steps.map(({ name }: { name: string }) => name);
  assert.deepEqual(names, ['@require', 'a', 'a/y', 'b', 'b[0]/x', 'b[1]', 'c', 'gone']);
});
