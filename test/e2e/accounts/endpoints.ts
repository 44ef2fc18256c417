// Endpoints of an organization: they get the events of all its runs, signed or as messages of a chat.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { until } from '../../harness/until.ts';
import { followEvents } from '../followed-events.ts';
import { verifyWebhook, WebhookReceiver } from '../webhook-receiver.ts';
import type { AccountWorld } from './account-world.ts';

interface Made {
  readonly endpoint: { readonly id: string; readonly url: string };
  readonly webhook_secret: string;
}

interface DeliveryBody {
  readonly id: string;
  readonly run_id: string;
  readonly kind: string;
  readonly status: string;
  readonly url?: string;
  readonly endpoint_id?: string;
  readonly tries: readonly { readonly status: number | null }[];
}

export function endpoints(world: () => AccountWorld): void {
  describe('an endpoint', () => {
    const receiver = new WebhookReceiver();
    before(() => receiver.start());
    after(() => receiver.stop());

    const create = async (body: object) => {
      const reply = await world().admin.request('POST', '/api/endpoints', { body });
      assert.equal(reply.status, 201, reply.text);
      return reply.read<Made>();
    };
    const deliveries = async (query: string) => {
      const reply = await world().viewer.request('GET', `/api/deliveries?${query}`);
      assert.equal(reply.status, 200, reply.text);
      return reply.read<{ items: DeliveryBody[] }>().items;
    };
    const cancelled = async () => {
      const { stack } = world();
      const run = await stack.api.startSettled({ method: stack.method('two-questions') });
      await stack.api.cancel(run.run_id);
      return run.run_id;
    };
    /** A run that ended once the endpoint was known everywhere. */
    const heard = (path: string, isDue: (runId: string) => boolean) =>
      until(`an event at ${path}`, async () => {
        const runId = await cancelled();
        await until('it is sent', async () => (await deliveries(`run=${runId}&status=pending`)).length === 0);
        return isDue(runId) && runId;
      });
    const at = (path: string, runId: string) => receiver.to(path).find(({ body }) => body.run_id === runId);

    test('gets what its filter takes of runs without a webhook, signed by each secret until a rotation is over', async () => {
      const { admin, viewer } = world();
      const followed = await followEvents(`${viewer.baseUrl}/api/events`, viewer.apiKey);
      const made = await create({ name: 'All runs', url: receiver.url('/all'), events: ['cancelled'] });
      const runId = await heard('/all', (id) => at('/all', id) !== undefined);
      const first = at('/all', runId);
      assert.ok(first);
      verifyWebhook(first, made.webhook_secret);
      assert.deepEqual(new Set(receiver.to('/all').map(({ body }) => body.event)), new Set(['cancelled']));

      const rotate = async (overlapMs: number) => {
        const path = `/api/endpoints/${made.endpoint.id}/rotate`;
        const reply = await admin.request('POST', path, { body: { overlap_ms: overlapMs } });
        return reply.read<Made>().webhook_secret;
      };
      const second = await rotate(3_600_000);
      const signatures = (id: string) => String(at('/all', id)?.headers['service-signature']).split(',v1=').length - 1;
      const both = at('/all', await heard('/all', (id) => signatures(id) === 2));
      assert.ok(both);
      for (const secret of [made.webhook_secret, second]) verifyWebhook(both, secret);
      const third = await rotate(0);
      const later = at('/all', await heard('/all', (id) => verifies(at('/all', id), third)));
      assert.ok(later);
      assert.ok(
        ![made.webhook_secret, second].some((secret) => verifies(later, secret)),
        'earlier secrets sign no more',
      );

      const [delivery] = await deliveries(`endpoint=${made.endpoint.id}&run=${runId}`);
      assert.deepEqual(
        [delivery?.kind, delivery?.status, delivery?.url, delivery?.endpoint_id, delivery?.tries.map((t) => t.status)],
        ['endpoint', 'delivered', undefined, made.endpoint.id, [204]],
      );
      const tried = await until('an open page is notified of its try', () =>
        followed.events.find(({ event, data }) => event === 'delivery' && data.run_id === runId),
      );
      followed.leave();
      assert.deepEqual(tried.data, {
        delivery_id: delivery?.id,
        run_id: runId,
        event: 'cancelled',
        kind: 'endpoint',
        endpoint_id: made.endpoint.id,
        status: 'delivered',
        http_status: 204,
      });
      const again = await world().member.request('POST', '/api/deliveries/resend', { body: { ids: [delivery?.id] } });
      assert.deepEqual(again.read<{ ids: string[] }>().ids, [delivery?.id]);
      const sent = await until('it is sent again', () => {
        const all = receiver.to('/all').filter(({ body }) => body.run_id === runId);
        return all.length === 2 && all[1];
      });
      assert.ok(sent.raw.equals(first.raw));
      assert.equal(sent.headers['service-delivery'], delivery?.id);
      assert.equal((await admin.request('DELETE', `/api/endpoints/${made.endpoint.id}`)).status, 204);
    });

    test('of a chat brings an answer by its button, in the name of the endpoint', async () => {
      const { admin, stack } = world();
      const path = '/services/questions';
      const chat = { name: 'Refunds', format: 'slack', url: receiver.url(path), events: ['needs_input'] };
      const { endpoint } = await create(chat);
      const inputs = { order_id: 'ord_1', amount: 250 };
      const { button, runId } = await until('a question is in the chat', async () => {
        await stack.api.startSettled({ method: stack.method('approve'), inputs });
        for (const { raw } of receiver.to(path)) {
          const [, url] = /"url":"([^"]*\/a\/[^"]*)"/.exec(raw.toString()) ?? [];
          const [run] = /run_\w{26}/.exec(raw.toString()) ?? [];
          if (url !== undefined && run !== undefined) return { button: url, runId: run };
        }
        return false;
      });
      const field = (page: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? '';
      const post = async (values: Record<string, string>) =>
        (await fetch(button, { method: 'POST', body: new URLSearchParams(values) })).text();
      const chosen = { nonce: field(await (await fetch(button)).text(), 'nonce'), '/decision': '"approve"' };
      const confirmation = field(await post({ ...chosen, do: 'check' }), 'confirmation');
      assert.match(await post({ ...chosen, confirmation, do: 'send' }), /Sent: <bdi>Approve<\/bdi>/);
      const { status, answers = [] } = await stack.api.settled(runId);
      assert.equal(status, 'succeeded');
      assert.equal(answers[0]?.channel, 'chat');
      assert.ok(JSON.stringify(answers[0]).includes('"Refunds"'), JSON.stringify(answers[0]));
      await admin.request('DELETE', `/api/endpoints/${endpoint.id}`);
    });

    test('of a chat gets a message without a signature, and its URL is stored nowhere in clear', async () => {
      const { admin, stack } = world();
      const path = '/services/T000/B000/chat-url-canary';
      const { endpoint } = await create({
        name: 'Chat',
        format: 'slack',
        url: receiver.url(path),
        events: ['cancelled'],
      });
      assert.ok(!endpoint.url.includes('canary'));
      await heard(path, () => receiver.to(path).length > 0);
      const [message] = receiver.to(path);
      assert.equal(message?.headers['service-signature'], undefined);
      assert.match(JSON.stringify(message?.body), /A run was cancelled/);
      const rows = await stack.sql`
        select d::text as text from notifier.deliveries d union all select e::text from registry.endpoints e
        union all select t::text from notifier.delivery_tries t union all select a::text from registry.audit a`;
      assert.deepEqual(
        rows.filter(({ text }) => text.includes('canary')),
        [],
      );
      assert.ok(!stack.log('notifier-1').includes('canary'));
      await admin.request('DELETE', `/api/endpoints/${endpoint.id}`);
    });
  });
}

function verifies(received: ReturnType<WebhookReceiver['to']>[number] | undefined, secret: string): boolean {
  if (received === undefined) return false;
  try {
    verifyWebhook(received, secret);
    return true;
  } catch {
    return false;
  }
}
