import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stepRows, topLevelOf } from './step-tree.ts';

const named = (...names: string[]) => names.map((name) => ({ name }));
const shown = (rows: readonly { label: string; depth: number }[]) =>
  rows.map(({ label, depth }) => `${' '.repeat(depth)}${label}`);

test('a step is below the nearest step that its path begins with', () => {
  const rows = stepRows(
    named('order', 'each', 'each[0]', 'each[0]/fetch', 'each[1]/fetch', 'last'),
    new Map(),
    new Set(),
  );
  assert.deepEqual(shown(rows), ['order', 'each', ' [0]', '  fetch', ' [1]/fetch', 'last']);
  assert.deepEqual(
    rows.filter(({ isParent }) => isParent).map(({ label }) => label),
    ['each', '[0]'],
  );
});

test('a step that is recorded after those below it is listed before them', () => {
  const rows = stepRows(named('each[0]/fetch', 'each[0]', 'each[1]/fetch', 'each[1]', 'each'), new Map(), new Set());
  assert.deepEqual(shown(rows), ['each', ' [0]', '  fetch', ' [1]', '  fetch']);
});

test('a step whose name begins like another one is not below it', () => {
  assert.deepEqual(shown(stepRows(named('pay', 'pay-back', 'payment/x'), new Map(), new Set())), [
    'pay',
    'pay-back',
    'payment/x',
  ]);
});

test('rows below a closed step are hidden, all the way down', () => {
  const steps = named('each', 'each[0]', 'each[0]/fetch', 'last');
  assert.deepEqual(shown(stepRows(steps, new Map(), new Set(['each']))), ['each', 'last']);
});

test('a folded loop is a parent, open once its rounds are there', () => {
  const loop = { name: 'each', rounds: { succeeded: 500 } };
  const folded = stepRows([loop], new Map(), new Set());
  assert.deepEqual(
    folded.map(({ isParent, isOpen }) => [isParent, isOpen]),
    [[true, false]],
  );
  const open = stepRows<{ name: string; rounds?: Record<string, number> }>(
    [loop, ...named('last')],
    new Map([['each', named('each[0]', 'each[0]/fetch')]]),
    new Set(),
  );
  assert.deepEqual(shown(open), ['each', ' [0]', '  fetch', 'last']);
});

test('30,000 steps become rows within a frame or two', () => {
  const steps = named('each', ...Array.from({ length: 30_000 }, (_, at) => `each[${at}]/fetch`));
  const begun = performance.now();
  assert.equal(stepRows(steps, new Map(), new Set()).length, 30_001);
  assert.ok(performance.now() - begun < 1_000);
});

test('a path belongs to its first part', () => {
  assert.deepEqual(['a', 'a/b', 'a[3]/b'].map(topLevelOf), ['a', 'a', 'a']);
});
