import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pending, pendingWords } from './pending-words.ts';

const text = (reason: Pending['reason'], detail: Pending['detail'] = {}) =>
  pendingWords({ reason, detail, since: null }).text;

test('each reason is one sentence', () => {
  assert.equal(text('no_worker'), 'No worker is connected that runs this method.');
  assert.equal(
    text('feature_missing', { needs: ['python', 'gpu'] }),
    'No connected worker has what it needs: python, gpu.',
  );
  assert.equal(text('cancelling'), 'Cancel requested: its worker has not confirmed yet.');
});

test('a queued run says how many are ahead of it, and which attempt is next', () => {
  assert.equal(text('in_queue', { ahead: 1 }), '1 run is ahead of it in its queue.');
  assert.equal(
    text('in_queue', { ahead: 1_000, ahead_more: true }),
    '1,000 or more runs are ahead of it in its queue.',
  );
  assert.match(text('in_queue', { ahead: 0, attempts: 1, max_attempts: 3 }), /next one .* attempt 2 of 3 is next\.$/);
});

test('a question says whose answer it needs, and by when', () => {
  assert.equal(text('question', { assignee: 'Ada' }), 'It waits for the answer of Ada.');
  assert.equal(
    text('question', { to: ['admin', 'grace@example.com'] }),
    'It waits for an answer of admin, grace@example.com.',
  );
  assert.match(text('question', { needs: { count: 2, on: ['approve'] }, votes_given: 1 }), /1 of 2 answers are given/);
  const { until, help } = pendingWords({ reason: 'question', detail: { due_at: '2026-11-26T10:00:00Z' }, since: null });
  assert.deepEqual([until, help], [{ words: 'due', at: '2026-11-26T10:00:00Z' }, 'answer']);
});

test('a sleeping run says which step sleeps, and until when', () => {
  const { text: said, until } = pendingWords({
    reason: 'sleeping',
    detail: { step: 'charge', until: '2026-11-26T10:00:00Z' },
    since: null,
  });
  assert.deepEqual([said, until?.words], ['Step charge sleeps and continues by itself.', 'until']);
});
