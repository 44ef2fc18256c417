import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leastCpuMs } from '@methods/test/harness/cpu-time';
import type { ListedRun } from '../../api/shapes.ts';
import { causesOf } from './causes.ts';

const failed = (run_id: string, message: string, more: object = {}) =>
  ({
    run_id,
    method: 'wf_1',
    status: 'failed',
    error: { code: 'step_failed', step: 'pay', message },
    ...more,
  }) as ListedRun;

test('runs that differ by numbers and ids have one cause, the most frequent first', () => {
  const runs = [
    failed('run_5', 'timeout after 30 s', { method: 'wf_2' }),
    failed('run_4', 'Order ord_7f3 of 250 EUR was declined.'),
    failed('run_3', 'Order ord_9aa of 3.50 EUR was declined.'),
    failed('run_2', 'Order ord_9aa of 3.50 EUR was refunded.'),
    failed('run_1', 'Order 6ba7b810-9dad-11d1-80b4-00c04fd430c8 of 1 EUR was declined.'),
    { run_id: 'run_0', method: 'wf_1', status: 'succeeded' } as ListedRun,
  ];
  assert.deepEqual(
    causesOf(runs).map(({ method, message, newest, runIds }) => [method, message, newest.run_id, runIds.length]),
    [
      ['wf_1', 'Order ord_7f3 of 250 EUR was declined.', 'run_4', 3],
      ['wf_2', 'timeout after 30 s', 'run_5', 1],
      ['wf_1', 'Order ord_9aa of 3.50 EUR was refunded.', 'run_2', 1],
    ],
  );
});

test('a run whose message this browser does not have is grouped by its step and code', () => {
  const sealed = (run_id: string, step: string) => failed(run_id, '', { error: { code: 'step_failed', step } });
  const causes = causesOf([sealed('run_3', 'pay'), sealed('run_2', 'send'), sealed('run_1', 'pay')]);
  assert.deepEqual(
    causes.map(({ step, code, runIds }) => [step, code, runIds]),
    [
      ['pay', 'step_failed', ['run_3', 'run_1']],
      ['send', 'step_failed', ['run_2']],
    ],
  );
});

test('a long message is grouped at once', () => {
  const message = 'x'.repeat(100_000);
  const tookMs = leastCpuMs(100, () => assert.equal(causesOf([failed('run_1', message)]).length, 1));
  assert.ok(tookMs < 100, `${tookMs} ms of CPU`);
});
