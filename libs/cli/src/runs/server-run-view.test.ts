import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import type { Run } from '@methods/api/run';
import { statusWord, statusWords } from './server-run-view.ts';

function words(run: Partial<Run>): string {
  const whole = run as Run;
  return `${statusWord(whole)} | ${statusWords(whole)}`;
}

test('a run that has failed and not ended yet shows that it cleans up, and after which error', () => {
  const ending = { code: 'attempts_exhausted' };
  equal(words({ status: 'queued', ending }), 'to clean up | to clean up after attempts_exhausted');
  equal(
    words({ status: 'queued', queued_reason: 'no_worker', ending: { code: 'no_answer' } }),
    'to clean up | to clean up after no_answer: no worker of this method is connected',
  );
  equal(words({ status: 'running', ending }), 'cleaning up | cleaning up after attempts_exhausted');
  equal(words({ status: 'running', cancel_requested: true, ending }), 'cleaning up | running, to be cancelled');
  // An answer is what it needs.
  equal(words({ status: 'waiting', ending }), 'waiting | waiting, cleaning up after attempts_exhausted');
});

test('any other run shows its status, and why it is queued', () => {
  equal(words({ status: 'running' }), 'running | running');
  equal(words({ status: 'queued' }), 'queued | queued');
  equal(words({ status: 'queued', queued_reason: 'sleeping' }), 'queued | queued: it waits for its time');
  equal(words({ status: 'failed' }), 'failed | failed');
});
