import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { RunStatus, RunViewSchema, StepStatus } from '@methods/proto/run/v1/run_pb';
import { atOnce } from '../../turns/steps.ts';
import { FOLDED_MIN, type StepSelection, stepPage } from './step-list.ts';

const DECLARED = ['fetch', 'each', 'done'].map((name) => ({ name, kind: 'node' }));
const ALL: StepSelection = { under: '', name: '', status: '', folds: false, after: '', limit: 1_000 };

/** A loop of so many rounds with two steps each; every tenth round failed. */
function looped(rounds: number, below = 'each') {
  const steps = [{ path: 'fetch', status: StepStatus.SUCCEEDED }];
  for (let i = 0; i < rounds; i++) {
    const status = i % 10 === 0 ? StepStatus.FAILED : StepStatus.SUCCEEDED;
    const round = `${below}[${i}]`;
    steps.push(
      { path: `${round}/get`, status },
      { path: `${round}/put`, status: StepStatus.SKIPPED },
      { path: round, status },
    );
  }
  return create(RunViewSchema, { runId: 'run_1', status: RunStatus.RUNNING, steps });
}

const page = (run: ReturnType<typeof looped>, selection: Partial<StepSelection>) =>
  atOnce(stepPage(run, DECLARED, 0, { ...ALL, ...selection }));
const paths = (found: ReturnType<typeof page>) => found?.steps.map(({ path }) => path);

test('pages follow each other in the order of the version, and hold every step once', () => {
  const run = looped(5);
  const whole = paths(page(run, {})) ?? [];
  assert.equal(whole.length, 3 + 15);
  assert.deepEqual([whole[0], whole[1], whole.at(-1)], ['fetch', 'each', 'done']);
  const seen: string[] = [];
  for (let after = ''; ; after = seen.at(-1) ?? '') {
    const found = page(run, { after, limit: 4 });
    seen.push(...(paths(found) ?? []));
    if (!found?.hasMore) break;
  }
  assert.deepEqual(seen, whole);
});

test('steps are selected by a part of their path, by status and by the step they are below', () => {
  const run = looped(20);
  assert.equal(paths(page(run, { name: 'GET' }))?.length, 20);
  assert.deepEqual(paths(page(run, { name: 'get', status: 'failed' })), ['each[0]/get', 'each[10]/get']);
  assert.deepEqual(paths(page(run, { under: 'each[1]' })), ['each[1]/get', 'each[1]/put']);
  assert.deepEqual(page(run, { name: 'get', status: 'failed', limit: 1 })?.counts, { failed: 2, succeeded: 18 });
});

test('a long loop is one entry with its rounds by status, and lists them below its path', () => {
  const rounds = FOLDED_MIN + 20;
  const run = looped(rounds);
  const folded = page(run, { folds: true });
  assert.deepEqual(paths(folded), ['fetch', 'each', 'done']);
  assert.deepEqual(folded?.steps[1]?.rounds, { failed: 12, succeeded: 108 });
  assert.equal(folded?.steps[0]?.rounds, null);
  assert.equal(paths(page(run, { folds: true, under: 'each' }))?.length, 3 * rounds);
  assert.equal(paths(page(looped(FOLDED_MIN), { folds: true }))?.length, 3 + 3 * FOLDED_MIN);
});

test('a loop within a round is folded there, if the loop has an entry', () => {
  const run = looped(FOLDED_MIN + 1, 'each[7]/inner');
  assert.equal(paths(page(run, { folds: true, under: 'each' }))?.length, 3 * (FOLDED_MIN + 1));
  const steps = [
    ...run.steps,
    ...create(RunViewSchema, { steps: [{ path: 'each[7]/inner', status: StepStatus.FAILED }] }).steps,
  ];
  const folded = page({ ...run, steps }, { folds: true, under: 'each' });
  assert.deepEqual(paths(folded), ['each[7]/inner']);
  assert.equal(folded?.steps[0]?.rounds?.succeeded, 90);
});

test('a cursor that names no step is refused', () => {
  assert.equal(page(looped(3), { after: 'each[9]' }), null);
});
