// Answers that the checks of a question refuse, and the cleanup after a question without an answer.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Stack } from '../stack.ts';
import { WebhookReceiver } from '../webhook-receiver.ts';

export function questions(stack: () => Stack): void {
  describe('a question', () => {
    const receiver = new WebhookReceiver();
    before(() => receiver.start());
    after(() => receiver.stop());

    test('stays open after an answer that its check refuses, and a right one ends the run', async () => {
      const { api } = stack();
      const { run_id: runId, question } = await api.startSettled({
        method: stack().method('spend'),
        inputs: { most: 5 },
      });
      const { status, refusal } = await api.answer(runId, { eur: 6 }, question?.id);
      assert.deepEqual([status, refusal.error], [422, 'invalid_answer']);
      assert.deepEqual(refusal.details, [{ path: '', code: 'check_failed', message: 'It is within the budget' }]);
      const { run: still } = await api.get(runId);
      assert.deepEqual([still.status, still.question?.id], ['waiting', question?.id]);
      await api.answer(runId, { eur: 5 }, question?.id);
      const run = await api.settled(runId, question?.id);
      assert.deepEqual([run.status, run.result], ['succeeded', { eur: 5 }], JSON.stringify(run.error));
    });

    test('without an answer on_failure and finally run, and the webhook of the failure comes after them', async () => {
      const waiting = await stack().api.startSettled({
        method: stack().method('unanswered-cleanup'),
        webhook_url: receiver.url('/ends'),
      });
      assert.equal(waiting.status, 'waiting');
      const run = await stack().api.settled(waiting.run_id, waiting.question?.id);
      assert.equal(run.status, 'failed');
      assert.deepEqual(run.error, {
        ...{ code: 'no_answer', kind: 'timeout' },
        ...{ message: 'No answer within 1s', step: 'approval' },
      });
      const ends = new Map(run.steps.map(({ name, status, timing }) => [name, { status, ...timing }]));
      const cleanup = [ends.get('on_failure/undo'), ends.get('finally/tidy')];
      assert.deepEqual(
        [ends.get('order'), ends.get('approval'), ...cleanup].map((end) => end?.status),
        ['succeeded', 'failed', 'succeeded', 'succeeded'],
      );
      const told = await receiver.event(run.run_id, 'failed');
      assert.equal(told.body.error?.code, 'no_answer');
      for (const end of cleanup) assert.ok((end?.finished_at ?? '~') <= told.body.created_at, JSON.stringify(run));
      assert.deepEqual(
        receiver.to('/ends').map(({ body }) => body.event),
        ['needs_input', 'failed'],
      );
      const events = await stack().api.request('GET', `/v1/runs/${run.run_id}/events`);
      assert.match(events.text, /finally\/tidy/);
    });
  });
}
