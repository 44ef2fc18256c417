// Answers: checked against the form, counted once, and refused when they come for nothing that is open.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Reply, RunBody } from '../api-client.ts';
import type { Stack } from '../stack.ts';
import { leavesRunsUnchanged } from '../unchanged-runs.ts';

const UNKNOWN_QUESTION = 'q_01m7y86kc4bk35r8p3tfrdmdyy';

export function answers(stack: () => Stack): void {
  describe('an answer', () => {
    const approve = () =>
      stack().api.startSettled({ method: stack().method('approve'), inputs: { order_id: 'ord_1', amount: 250 } });
    const two = () => stack().api.startSettled({ method: stack().method('two-questions') });
    const questionOf = (run: RunBody) => run.question?.id ?? '';
    const refused = (request: () => Promise<Reply>) => leavesRunsUnchanged(stack(), request);

    test('that does not fit its form is refused with the places, and the question stays open', async () => {
      const run = await approve();
      const cases: readonly [answer: unknown, details: readonly string[]][] = [
        [{}, ['/decision required']],
        [{ decision: 'maybe' }, ['/decision not_a_choice']],
        [{ decision: 'approve', copies: '1' }, ['/copies type']],
        [{ decision: 'approve', copies: 4, note: '' }, ['/copies too_large', '/note too_short']],
        [{ decision: 'approve', nots: 'x' }, ['/nots unknown_field']],
      ];
      for (const [answer, details] of cases) {
        const reply = await refused(() => stack().api.answer(run.run_id, answer, questionOf(run)));
        assert.deepEqual([reply.status, reply.refusal.error], [422, 'invalid_answer'], reply.text);
        assert.equal(reply.refusal.message, 'The answer does not fit the question.');
        const found = reply.refusal.details?.map(({ path, code }) => `${path} ${code}`);
        assert.deepEqual(found?.sort(), [...details].sort());
      }
      const now = (await stack().api.get(run.run_id)).run;
      assert.deepEqual(now.question, run.question);
      await stack().api.cancel(run.run_id);
    });

    test('that is not an object, is too large, or has unknown fields beside it is refused as a request', async () => {
      const run = await approve();
      const path = `/v1/runs/${run.run_id}/answer`;
      const send = (body: unknown) => refused(() => stack().api.request('POST', path, { body }));
      const asText = await send({ answer: 'approve' });
      assert.deepEqual([asText.status, asText.refusal.message], [400, '"answer" has to be an object.']);
      const missing = await send({ decision: 'approve' });
      assert.deepEqual([missing.status, missing.refusal.error], [400, 'invalid_request']);
      const misspelt = await send({ answer: { decision: 'approve' }, questionid: 'x' });
      assert.equal(misspelt.refusal.message, 'There is no field "questionid". Did you mean "question_id"?');
      const large = await send({ answer: { decision: 'approve', note: 'x'.repeat(64 * 1024) } });
      assert.deepEqual([large.status, large.refusal.error], [413, 'too_large']);
      assert.deepEqual(
        large.refusal.details?.map(({ code }) => code),
        ['answer_bytes'],
      );
      const asked = await refused(() => stack().api.request('POST', `${path}?now=1`, { body: { answer: {} } }));
      assert.deepEqual([asked.status, asked.refusal.message], [400, 'There is no field "now".']);
      await stack().api.cancel(run.run_id);
    });

    test('given again is the same answer; another one is refused with the status of the run', async () => {
      const run = await approve();
      const answer = { decision: 'approve', note: 'Yes.' };
      assert.equal((await stack().api.answer(run.run_id, answer, questionOf(run))).status, 200);
      const finished = await stack().api.settled(run.run_id, questionOf(run));
      assert.equal(finished.status, 'succeeded');
      for (const questionId of [questionOf(run), undefined]) {
        const again = await refused(() =>
          stack().api.answer(run.run_id, { note: 'Yes.', decision: 'approve' }, questionId),
        );
        assert.equal(again.status, 200, 'the order of fields makes no difference');
        assert.equal(again.run.status, 'succeeded');
        const other = await refused(() => stack().api.answer(run.run_id, { decision: 'reject' }, questionId));
        assert.deepEqual([other.status, other.refusal.error], [409, 'run_not_waiting']);
        assert.equal(other.refusal.message, 'The run has no open question.');
        assert.equal(other.refusal.status, 'succeeded');
      }
    });

    test('twenty times at once counts once', async () => {
      const run = await approve();
      const replies = await Promise.all(
        Array.from({ length: 20 }, () => stack().api.answer(run.run_id, { decision: 'reject' }, questionOf(run))),
      );
      assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
      const finished = await stack().api.settled(run.run_id, questionOf(run));
      assert.deepEqual([finished.status, finished.attempts], ['succeeded', 1]);
    });

    test('of several different ones at once wins once', async () => {
      const run = await approve();
      const notes = Array.from({ length: 10 }, (_, n) => `note ${n}`);
      const replies = await Promise.all(
        notes.map((note) => stack().api.answer(run.run_id, { decision: 'approve', note }, questionOf(run))),
      );
      const winner = replies.findIndex(({ status }) => status === 200);
      assert.deepEqual(replies.map(({ status }) => status).sort(), [200, ...Array.from({ length: 9 }, () => 409)]);
      const finished = await stack().api.settled(run.run_id, questionOf(run));
      assert.equal(finished.result?.note, notes[winner]);
    });

    test('to an earlier or unknown question never answers the open one', async () => {
      const run = await two();
      const first = questionOf(run);
      await stack().api.answer(run.run_id, { go: true }, first);
      const second = await stack().api.settled(run.run_id, first);
      assert.equal(second.question?.step, 'second');
      const late = await refused(() => stack().api.answer(run.run_id, { go: true }, first));
      assert.equal(late.status, 200, 'the same answer to the first question is its repeat');
      assert.equal(late.run.question?.id, questionOf(second));
      for (const questionId of [first, UNKNOWN_QUESTION, 'nonsense']) {
        const reply = await refused(() => stack().api.answer(run.run_id, { go: false }, questionId));
        assert.deepEqual([reply.status, reply.refusal.error], [409, 'question_changed'], questionId);
        assert.equal(reply.refusal.message, 'Another question is open, or the question is unknown.');
        assert.equal(reply.refusal.status, 'waiting');
      }
      await stack().api.cancel(run.run_id);
    });

    test('with wait_ms is replied to with the next question, or the end', async () => {
      const run = await two();
      const second = await stack().api.answerSettled(run.run_id, { go: true }, questionOf(run));
      assert.deepEqual([second.status, second.question?.step], ['waiting', 'second']);
      const again = await stack().api.answerSettled(run.run_id, { go: true }, questionOf(run));
      assert.equal(again.question?.id, questionOf(second), 'a repeat');
      const end = await stack().api.answerSettled(run.run_id, { go: false });
      assert.deepEqual(end.result, { first: true, second: false });
    });

    test('equal to the last one counts for the next question when none is named', async () => {
      const run = await two();
      await stack().api.answer(run.run_id, { go: true });
      const second = await stack().api.settled(run.run_id, questionOf(run));
      assert.equal((await stack().api.answer(run.run_id, { go: true })).run.status, 'queued');
      const finished = await stack().api.settled(run.run_id, questionOf(second));
      assert.deepEqual(finished.result, { first: true, second: true });
    });

    test('to a cancelled run comes too late', async () => {
      const run = await approve();
      await stack().api.cancel(run.run_id);
      const reply = await refused(() => stack().api.answer(run.run_id, { decision: 'approve' }, questionOf(run)));
      assert.deepEqual(
        [reply.status, reply.refusal.error, reply.refusal.status],
        [409, 'run_not_waiting', 'cancelled'],
      );
    });

    test('that never comes fails the run at its deadline, in the words of its source', async () => {
      const run = await stack().api.startSettled({ method: stack().method('short-question') });
      const { question } = run;
      assert.equal(Date.parse(question?.deadline_at ?? '') - Date.parse(question?.asked_at ?? ''), 2_000);
      const failed = await stack().api.settled(run.run_id, questionOf(run));
      assert.equal(failed.status, 'failed');
      assert.deepEqual(failed.error, {
        code: 'no_answer',
        kind: 'timeout',
        message: 'No answer within 2s',
        step: 'approval',
      });
      assert.ok(Date.parse(failed.timing.finished_at ?? '') >= Date.parse(question?.deadline_at ?? ''));
      const late = await refused(() => stack().api.answer(run.run_id, { go: true }, questionOf(run)));
      assert.deepEqual([late.status, late.refusal.error, late.refusal.status], [409, 'run_not_waiting', 'failed']);
    });
  });
}
