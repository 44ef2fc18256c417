// Records of steps that only compute: sent together, and never late for a step that acts.
import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import type { RunOptions } from '../execute-run.ts';
import type { RunJournal } from '../run-outcome.ts';
import { Attempts, methodOf } from './attempts.fixture.ts';

const COMPUTES = (name: string) => `  - name: ${name}
    node: "return { n: 1 }"
    out: { n: integer }`;
const ACTS = (name: string) => `  - name: ${name}
    node: "console.log('sent'); return { n: 1 }"
    out: { n: integer }`;

/** Runs the steps with a journal that acknowledges nothing before `acknowledge` is called. */
function walk(steps: readonly string[], options: Partial<RunOptions> = {}, head?: string, givesBack = false) {
  const order: string[] = [];
  const open: (() => void)[] = [];
  const journal: RunJournal = {
    stepEnded: ({ path }) => {
      order.push(`record ${path}`);
      return new Promise((resolve) => open.push(resolve));
    },
    stepRuns: (path) => order.push(`start ${path}`),
    givesBack: () => givesBack,
  };
  const attempts = new Attempts(methodOf(`steps:\n${steps.join('\n')}`, head), {
    journal,
    // No step is slow enough to be reported while it runs.
    startsToldAfterMs: 3_600_000,
    substitute: ({ step }) => {
      order.push(`run ${step.name}`);
      return { out: { n: 1 } };
    },
    ...options,
  });
  const acknowledge = () => {
    order.push('acknowledged');
    for (const resolve of open.splice(0)) resolve();
  };
  return { order, acknowledge, ended: attempts.run() };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('steps that only compute wait for no acknowledgement, and their records are sent with the end', async () => {
  const { order, ended } = walk([COMPUTES('a'), COMPUTES('b'), COMPUTES('c')]);
  const outcome = await ended;
  equal(outcome.status, 'succeeded');
  equal(outcome.lastRecord?.path, 'c');
  deepEqual(order, ['run a', 'run b', 'run c', 'record a', 'record b']);
});

test('records of steps that acted are sent before the next step computes', async () => {
  const { order, ended } = walk([ACTS('a'), COMPUTES('b')]);
  equal((await ended).status, 'succeeded');
  deepEqual(order, ['run a', 'record a', 'run b']);
});

test('a step that acts waits until every record before it is acknowledged', async () => {
  const { order, acknowledge, ended } = walk([COMPUTES('a'), COMPUTES('b'), ACTS('c')]);
  while (order.length < 4) await turn();
  await turn();
  deepEqual(order, ['run a', 'run b', 'record a', 'record b']);
  acknowledge();
  equal((await ended).status, 'succeeded');
  deepEqual(order.slice(4), ['acknowledged', 'run c']);
});

test('a long row of computing steps is acknowledged piece by piece', async () => {
  const loop = `  - name: loop
    each: inputs.list
    node: "return { n: 1 }"
    out: { n: integer }`;
  const inputs = { list: Array.from({ length: 20 }, () => 1) };
  const { order, acknowledge, ended } = walk([loop], { inputs }, 'inputs: { list: list<integer> }');
  while (order.length < 32) await turn();
  await turn();
  equal(order.filter((it) => it === 'run loop').length, 16);
  equal(order.at(-1), 'record loop[15]');
  acknowledge();
  equal((await ended).status, 'succeeded');
  equal(order.filter((it) => it === 'run loop').length, 20);
});

test('a reported start follows the records before it', async () => {
  const { order, ended } = walk([COMPUTES('a'), COMPUTES('b')], { startsToldAfterMs: 0 });
  equal((await ended).status, 'succeeded');
  deepEqual(order, ['start a', 'run a', 'record a', 'start b', 'run b']);
});

test('a computing step that must not be repeated waits like one that acts', async () => {
  const { order, acknowledge, ended } = walk([COMPUTES('a'), `${COMPUTES('b')}\n    on_interrupt: fail`]);
  while (order.length < 2) await turn();
  await turn();
  deepEqual(order, ['run a', 'record a']);
  acknowledge();
  equal((await ended).status, 'succeeded');
});

test('a computing step of a run that is given back waits like one that acts', async () => {
  const { order, acknowledge, ended } = walk([COMPUTES('a'), COMPUTES('b')], {}, undefined, true);
  while (order.length < 2) await turn();
  await turn();
  deepEqual(order, ['run a', 'record a']);
  acknowledge();
  equal((await ended).status, 'succeeded');
});
