// Webhooks whose receiver does not behave: tried again with the same bytes until it takes them or wants no more.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { TEST_DOER } from '../../harness/test-doer.ts';
import { until } from '../../harness/until.ts';
import { secondKey } from '../other-callers.ts';
import type { Stack } from '../stack.ts';
import { verifyWebhook, WebhookReceiver } from '../webhook-receiver.ts';

/** As many waits as there are redeliveries. */
export const WEBHOOK_RETRY_MS = '50,100,100,100,100';

export function webhooks(stack: () => Stack): void {
  describe('a webhook', () => {
    const receiver = new WebhookReceiver();
    before(() => receiver.start());
    after(() => receiver.stop());
    const run = (path: string) =>
      stack().api.startSettled({
        method: stack().method('greet'),
        inputs: { name: 'Ada' },
        webhook_url: receiver.url(path),
      });
    const delivery = (runId: string, status: string) =>
      until(`the delivery is ${status}`, async () => {
        const [row] = await stack().sql<{ status: string; tries: number; delivery_id: string }[]>`
          select status, tries, delivery_id from notifier.deliveries where run_id = ${runId}`;
        return row?.status === status && row;
      });

    test('that fails twice is delivered at the third try, with the same id and the same bytes', async () => {
      receiver.answers = (_path, n) => (n <= 2 ? 500 : 204);
      const { run_id: runId } = await run('/twice');
      const delivered = await delivery(runId, 'delivered');
      assert.equal(delivered.tries, 3);
      const tries = receiver.to('/twice');
      assert.equal(tries.length, 3);
      for (const received of tries) {
        verifyWebhook(received, stack().ready.webhook_secret);
        assert.equal(received.headers['service-delivery'], delivered.delivery_id);
        assert.ok(tries[0]?.raw.equals(received.raw));
      }
      assert.deepEqual([tries[0]?.body.event, tries[0]?.body.status], ['succeeded', 'succeeded']);
      assert.deepEqual(tries[0]?.body.result, { greeting: 'Hello, Ada!' });
    });

    test('answered with 410 is not sent again', async () => {
      receiver.answers = () => 410;
      const { run_id: runId } = await run('/gone');
      assert.equal((await delivery(runId, 'stopped')).tries, 1);
      assert.equal(receiver.to('/gone').length, 1);
    });

    test('that is never accepted is given up after five redeliveries, and the run is not affected', async () => {
      receiver.answers = () => 503;
      const { run_id: runId } = await run('/never');
      assert.equal((await delivery(runId, 'exhausted')).tries, 6);
      assert.equal(receiver.to('/never').length, 6);
      assert.equal((await stack().api.get(runId)).run.status, 'succeeded');
    });

    test('is not sent after a redirect, and reports a failure and a cancel too', async () => {
      receiver.answers = (path) => (path === '/moved' ? 302 : 204);
      const { run_id: moved } = await run('/moved');
      const failed = await stack().api.startSettled({
        method: stack().method('absent-secret'),
        webhook_url: receiver.url('/ends'),
      });
      const waiting = await stack().api.startSettled({
        method: stack().method('two-questions'),
        webhook_url: receiver.url('/ends'),
      });
      await stack().api.cancel(waiting.run_id);
      const told = await receiver.event(failed.run_id, 'failed');
      assert.deepEqual([told.body.status, told.body.error?.code], ['failed', 'secret_missing']);
      const ended = await receiver.event(waiting.run_id, 'cancelled');
      assert.deepEqual([ended.body.status, ended.body.result], ['cancelled', undefined]);
      await delivery(moved, 'exhausted');
      assert.deepEqual(new Set(receiver.to('/moved').map(({ raw }) => raw.toString())).size, 1);
    });

    test('of a key revoked since is still signed with its secret', async () => {
      receiver.answers = () => 204;
      const { key, keyId, orgId, webhookSecret } = await secondKey(stack());
      const api = stack().api.as(key);
      const asked = await api.startSettled({
        method: stack().method('two-questions'),
        webhook_url: receiver.url('/revoked'),
      });
      await stack().registry.revokeServiceKey({ orgId, keyId, doer: TEST_DOER });
      await stack().api.cancel(asked.run_id);
      const ended = await receiver.event(asked.run_id, 'cancelled');
      verifyWebhook(ended, webhookSecret);
      assert.throws(() => verifyWebhook(ended, stack().ready.webhook_secret));
    });
  });
}
