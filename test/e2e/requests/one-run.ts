// The main job, as an application sees it: start a run, get its question, answer it, get its result by HTTP and by
// signed webhook.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { ProductionId } from '@methods/base/ids';
import { TEST_DOER } from '../../harness/test-doer.ts';
import { until } from '../../harness/until.ts';
import type { ApiClient, RunBody, RunQuestion } from '../api-client.ts';
import { secondKey } from '../other-callers.ts';
import type { Stack } from '../stack.ts';
import { verifyWebhook, WebhookReceiver } from '../webhook-receiver.ts';

const INPUTS = { order_id: 'ord_7f3', amount: 250 };
/** Waits last 20 s: one that gets no change would take as long. */
const PROMPT_MS = 20_000;

/** On a stack that others use too. */
export function oneRun(name: string, commonStack: () => Promise<Stack>): void {
  describe(`one run, ${name}`, () => {
    let stack: Stack;
    let first: ApiClient;
    let last: ApiClient;
    const receiver = new WebhookReceiver();

    before(async () => {
      stack = await commonStack();
      first = stack.api;
      last = first.at(stack.gateways.at(-1) ?? '');
      await receiver.start();
    });
    after(() => receiver.stop());

    let run: RunBody;
    let question: RunQuestion;

    test('a start is returned at once as queued, with the version that is published', async () => {
      const reply = await first.start({
        method: stack.method('approve'),
        inputs: INPUTS,
        webhook_url: receiver.url('/story'),
        idempotency_key: 'one-run-story',
        metadata: { order: '7f3' },
      });
      assert.equal(reply.status, 201);
      assert.equal(reply.headers.get('idempotent-replayed'), null);
      run = reply.run;
      assert.deepEqual(Object.keys(run), ['run_id', 'version_id', 'status']);
      assert.equal(run.status, 'queued');
      const { method } = await stack.registry.getMethod({
        orgId: stack.ready.org_id,
        methodId: stack.method('approve') as ProductionId,
      });
      assert.equal(run.version_id, method?.publishedVersion);
    });

    test('a wait ends when the run begins to wait for an answer, and shows the question and its form', async () => {
      const waiting = await last.settled(run.run_id);
      assert.equal(waiting.status, 'waiting');
      assert.deepEqual(
        waiting.steps.map((step) => [step.name, step.kind, step.status]),
        [
          ['order', 'node', 'succeeded'],
          ['approval', 'ask', 'waiting'],
          ['refund', 'node', 'pending'],
        ],
      );
      assert.equal(waiting.answer_by, 'application');
      assert.equal(waiting.attempts, 1);
      assert.ok(waiting.question);
      question = waiting.question;
      assert.equal(question.prompt, 'Refund 250 EUR to ord_7f3@example.com?');
      assert.deepEqual(question.show, [{ path: 'steps.order.customer', value: 'ord_7f3@example.com' }]);
      assert.equal(question.deadline_at, null);
      assert.deepEqual(question.form.required, ['decision']);
      assert.deepEqual(Object.keys(question.form.properties), ['decision', 'note', 'copies']);
    });

    test('the application gets the question by a signed webhook', async () => {
      const asked = await receiver.event(run.run_id, 'needs_input');
      verifyWebhook(asked, stack.ready.webhook_secret);
      assert.throws(() => verifyWebhook(asked, `${stack.ready.webhook_secret}x`));
      assert.equal(asked.headers['service-event'], 'needs_input');
      assert.equal(asked.headers['service-delivery'], asked.body.delivery_id);
      assert.match(String(asked.headers['content-type']), /^application\/json/);
      assert.equal(asked.body.question?.id, question.id);
      assert.equal(asked.body.method, stack.method('approve'));
    });

    test('an answer sends the run on; the wait past that question ends with the result', async () => {
      const wait = last.settled(run.run_id, question.id);
      const reply = await last.answer(run.run_id, { decision: 'approve', note: 'Sorry!' }, question.id);
      assert.equal(reply.status, 200);
      assert.equal(reply.run.status, 'queued');
      assert.equal(reply.run.question, undefined);
      const finished = await wait;
      assert.ok(Date.now() - Date.parse(finished.timing.finished_at ?? '') < PROMPT_MS, 'the wait ended late');
      assert.equal(finished.status, 'succeeded');
      assert.deepEqual(finished.result, { refunded: true, note: 'Sorry!', copies: 1 });
      assert.equal(finished.attempts, 1, 'waiting for an answer is no lost attempt');
      assert.equal(finished.error, undefined);
    });

    test('the result comes by webhook too, signed over the bytes that were sent, after the question', async () => {
      const done = await receiver.event(run.run_id, 'succeeded');
      verifyWebhook(done, stack.ready.webhook_secret);
      assert.deepEqual(done.body.result, { refunded: true, note: 'Sorry!', copies: 1 });
      assert.equal(done.body.status, 'succeeded');
      const told = receiver.to('/story').map(({ body }) => body);
      assert.deepEqual(
        told.map(({ event }) => event),
        ['needs_input', 'succeeded'],
      );
      assert.ok((told[0]?.seq ?? 0) < (told[1]?.seq ?? 0));
    });

    test('every gateway shows the same story of the run: times in order, spans that add up', async () => {
      const reply = await first.get(run.run_id);
      assert.equal((await last.get(run.run_id)).text, reply.text);
      const { timing, steps } = reply.run;
      const times = [timing.created_at, timing.started_at, timing.finished_at].map((time) => Date.parse(time ?? ''));
      assert.deepEqual(
        times,
        [...times].sort((a, b) => a - b),
      );
      const [createdMs = 0, , finishedMs = 0] = times;
      assert.equal(timing.queued_ms + timing.running_ms + timing.waiting_ms, finishedMs - createdMs);
      assert.deepEqual(
        steps.map((step) => step.status),
        ['succeeded', 'succeeded', 'succeeded'],
      );
    });

    test('a short run needs one request', async () => {
      const reply = await last.start({ method: stack.method('greet'), inputs: { name: 'Ada' } }, '?wait_ms=60000');
      assert.equal(reply.status, 201);
      assert.equal(reply.run.status, 'succeeded');
      assert.deepEqual(reply.run.result, { greeting: 'Hello, Ada!' });
    });

    test('waits on one gateway end as soon as runs started and answered on the other do', async () => {
      const lateMs = await Promise.all(
        Array.from({ length: 8 }, async () => {
          const { run_id: runId } = (await first.start({ method: stack.method('approve'), inputs: INPUTS })).run;
          const asked = await last.settled(runId);
          const wait = last.settled(runId, asked.question?.id);
          await first.answer(runId, { decision: 'reject' }, asked.question?.id);
          const finished = await wait;
          assert.deepEqual(finished.result, { refunded: false, note: null, copies: 1 });
          return Date.now() - Date.parse(finished.timing.finished_at ?? '');
        }),
      );
      assert.ok(Math.max(...lateMs) < PROMPT_MS, `waits ended ${lateMs.join(', ')} ms after their runs`);
    });

    test('a revoked key is refused by every gateway at once, and not when what they remember is old', async () => {
      const { orgId, key, keyId } = await secondKey(stack);
      const callers = stack.gateways.map((url) => first.as(key).at(url));
      for (const caller of callers) assert.equal((await caller.get(run.run_id)).status, 200);
      await stack.registry.revokeServiceKey({ orgId, keyId, doer: TEST_DOER });
      const revokedMs = performance.now();
      for (const caller of callers) {
        await until('the key is refused', async () => (await caller.get(run.run_id)).status === 401);
      }
      assert.ok(performance.now() - revokedMs < 25_000, `took ${Math.round(performance.now() - revokedMs)} ms`);
    });
  });
}
