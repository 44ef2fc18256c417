import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isId, newId } from '@methods/base/ids';
import { madeUpRuns, type SeedFacts } from './made-up-runs.ts';
import { readSeedOptions, SeedUsageError } from './seed-options.ts';

const NOW_MS = Date.parse('2026-01-31T12:00:00.000Z');
const FACTS: SeedFacts = {
  methods: [
    { method: 'wf_a', versionId: newId('ver') },
    { method: 'wf_b', versionId: newId('ver') },
  ],
  keys: [newId('key')],
  person: { personId: 'usr_1', name: 'Ada', email: 'ada@example.com' },
  shardCount: 16,
  nowMs: NOW_MS,
  runs: 2_000,
  questions: 30,
};

test('made-up runs are in all states, open ones in exact numbers, and no younger than now', () => {
  const runs = [...madeUpRuns(FACTS)];
  const count = (status: string) => runs.filter((run) => run.status === status).length;
  assert.deepEqual(['waiting', 'queued', 'sleeping', 'running'].map(count), [30, 4, 2, 2]);
  for (const status of ['succeeded', 'failed', 'cancelled']) assert.ok(count(status) > 0, status);
  for (const run of runs) {
    assert.ok(isId('run', run.run_id));
    assert.ok(run.created_at_ms < NOW_MS && run.created_at_ms > NOW_MS - 30 * 86_400_000);
    assert.ok(run.state_since_ms >= run.created_at_ms && run.state_since_ms < NOW_MS);
  }
});

test('each run has what its state needs in the tables, and nothing of another state', () => {
  for (const run of madeUpRuns(FACTS)) {
    const { status } = run;
    assert.equal(run.question_json !== null, status === 'waiting');
    assert.equal(run.wake_at_ms !== null, status === 'sleeping');
    assert.equal(run.result_json !== null, status === 'succeeded');
    assert.equal(run.error_json !== null, status === 'failed');
    assert.equal(run.attempts === 0, status === 'queued');
    assert.equal(new Set(run.steps.map(({ path }) => path)).size, run.steps.length);
    if (status === 'failed') assert.ok(run.steps.some((step) => step.status === 'failed'));
  }
});

test('one run has 5,000 steps, one a line of a megabyte, and hostile texts are among all texts', () => {
  const runs = [...madeUpRuns(FACTS)];
  assert.ok((runs[0]?.steps.length ?? 0) > 5_000);
  assert.ok(runs[1]?.steps.some(({ out_json: out }) => (out?.length ?? 0) > 1_000_000));
  const all = JSON.stringify(runs.map(({ steps: _, ...run }) => run));
  for (const part of ['<script>', '\u202e', 'HYPERLINK']) assert.ok(all.includes(part), part);
});

test('options are numbers within their bounds', () => {
  assert.deepEqual(readSeedOptions([], '/'), { dataDir: null, runs: 100_000, methods: 200, questions: 300 });
  assert.deepEqual(readSeedOptions(['--runs', '10', '--questions=2', '--data-dir', 'x'], '/y'), {
    ...{ dataDir: '/y/x', runs: 10, methods: 200, questions: 2 },
  });
  assert.equal(readSeedOptions(['-h'], '/'), 'help');
  for (const args of [['--runs', '0'], ['--runs', 'many'], ['--methods=9999'], ['--runs', '5'], ['--unknown'], ['x']])
    assert.throws(() => readSeedOptions(args, '/'), SeedUsageError, args.join(' '));
});
