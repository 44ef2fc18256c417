import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestSummary } from './test-summary.ts';

test('adds up the closing lines of several runs, coloured or not', () => {
  const summary = new TestSummary();
  for (const line of ['✔ a test (1.2ms)', 'ℹ tests 3', 'ℹ pass 2', 'ℹ fail 1', 'ℹ duration_ms 10.5'])
    summary.read(line);
  for (const line of ['\u001b[34mℹ tests 4\u001b[39m', 'ℹ pass 4', 'ℹ fail 0', 'ℹ duration_ms 1']) summary.read(line);
  assert.deepEqual(summary.lines(), [
    'ℹ tests 7',
    'ℹ suites 0',
    'ℹ pass 6',
    'ℹ fail 1',
    'ℹ cancelled 0',
    'ℹ skipped 0',
    'ℹ todo 0',
    'ℹ duration_ms 11.5',
  ]);
});

test('repeats what each run says of its failed tests, and nothing of the run after it', () => {
  const summary = new TestSummary();
  for (const line of ['✖ a test (1.2ms)', 'ℹ fail 1', '', '✖ failing tests:', '', '✖ a test (1.2ms)', '  Error: bad'])
    summary.read(line);
  summary.beginRun();
  for (const line of ['✔ another test (1.2ms)', 'ℹ fail 0']) summary.read(line);
  summary.beginRun();
  for (const line of ['\u001b[31m✖ failing tests:\u001b[39m', '✖ a third (3ms)']) summary.read(line);
  assert.deepEqual(summary.failures(), ['', '✖ a test (1.2ms)', '  Error: bad', '✖ a third (3ms)']);
});
