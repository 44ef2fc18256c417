// What an admin settles for the organization: who may do what, and where content may be. It counts within a second.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { describe, test } from 'node:test';
import { until } from '../../harness/until.ts';
import { followEvents } from '../followed-events.ts';
import { person } from '../people.ts';
import { type AccountWorld, onBothGateways } from './account-world.ts';

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));

interface MemberBody {
  readonly id: string;
  readonly email: string;
  readonly role: string;
}

export function organizationSettled(world: () => AccountWorld): void {
  describe('an organization', () => {
    test('gives its members the roles that its admins say', async () => {
      const { admin, stack } = world();
      const email = 'pat@example.com';
      const pat = await person(stack, { email, role: 'member' });
      const validate = (baseUrl: string) =>
        pat.at(baseUrl).request('PATCH', `/api/methods/${stack.method('greet')}`, { body: { display_name: 'Greet' } });
      for (const url of stack.gateways) assert.equal((await validate(url)).status, 200);
      const members = (await admin.request('GET', '/api/members')).read<{ items: MemberBody[] }>().items;
      const found = members.find((member) => member.email === email);
      assert.equal(found?.role, 'member');
      const change = (role: string) => admin.request('PATCH', `/api/members/${found?.id}`, { body: { role } });
      assert.equal((await change('viewer')).read<MemberBody>().role, 'viewer');
      await onBothGateways(world(), 'a viewer changes nothing', validate, ({ status }) => status === 403);
      const anew = await person(stack, { email, role: 'admin' });
      assert.equal((await validate(anew.baseUrl)).status, 403, "an admin's word is above the issuer's");
      assert.equal((await anew.request('GET', '/api/keys')).status, 403);
      await change('member');
      await onBothGateways(world(), 'a member does', validate, ({ status }) => status === 200);
    });

    test('ends the streams of a member with their access, on every gateway', async () => {
      const { admin, stack } = world();
      const lee = await person(stack, { email: 'lee@example.com', role: 'member' });
      const { user } = (await lee.request('GET', '/api/whoami')).read<{ user: MemberBody }>();
      const streams = await Promise.all(stack.gateways.map((url) => followEvents(`${url}/api/events`, lee.apiKey)));
      await until('they begin', () => streams.every(({ events }) => events[0]?.event === 'ready'));
      assert.equal((await admin.request('DELETE', `/api/members/${user.id}`)).status, 200);
      await Promise.all(streams.map(({ over }) => over));
      for (const { events } of streams) assert.deepEqual(events.at(-1)?.data, { reason: 'unauthorized' });
      await onBothGateways(
        world(),
        'their token opens nothing',
        (url) => lee.at(url).request('GET', '/api/whoami'),
        ({ status }) => status === 403,
      );
    });

    test('that keeps content on devices takes none in the plain, until it says otherwise', async () => {
      const { admin, member, stack } = world();
      const change = (keeps: boolean) =>
        admin.request('PATCH', '/api/settings', { body: { content_on_devices: keeps } });
      const start = (baseUrl: string) => stack.api.at(baseUrl).start({ method: stack.method('greet') });
      assert.equal(
        (await member.request('PATCH', '/api/settings', { body: { content_on_devices: true } })).status,
        403,
      );
      assert.equal((await change(true)).status, 200);
      await onBothGateways(world(), 'plain content is refused', start, (reply) => {
        return reply.status === 422 && reply.refusal.error === 'device_mode_required';
      });
      const byPerson = await member.request('POST', '/api/runs', { body: { method: stack.method('greet') } });
      assert.equal(byPerson.status, 422);
      assert.equal((await change(false)).status, 200);
      await onBothGateways(world(), 'plain content is taken', start, ({ status }) => status === 201);
    });

    test('lists the workers that are connected, with what they run', async () => {
      const { viewer, stack } = world();
      const reply = await viewer.request('GET', '/api/workers');
      const { items, count, complete } = reply.read<{
        items: { methods: string[]; slots: number; sdk: string; host: string; connected_at: string }[];
        count: number;
        complete: boolean;
      }>();
      assert.deepEqual([complete, count], [true, items.length]);
      assert.ok(items.some(({ methods }) => methods.includes(stack.method('greet'))));
      assert.ok(items.every(({ slots, connected_at: at }) => slots > 0 && Date.parse(at) > 0));
      assert.ok(
        items.every(
          ({ sdk, host }) => sdk === `methods-worker/${version} node/${process.versions.node}` && host === hostname(),
        ),
      );
    });

    test('sums up its runs by day and method', async () => {
      const { viewer, stack } = world();
      const method = stack.method('greet');
      const started = await stack.api.startSettled({ method, inputs: { name: 'Ada' } });
      assert.equal(started.status, 'succeeded');
      const reply = await viewer.request('GET', `/api/usage?method=${method}`);
      const { items } = reply.read<{ items: Record<string, unknown>[] }>();
      assert.ok(items.every((item) => item.method === method && /^\d{4}-\d{2}-\d{2}$/.test(String(item.day))));
      assert.ok(items.some(({ runs, succeeded }) => Number(succeeded) > 0 && Number(runs) >= Number(succeeded)));

      const asking = stack.method('two-questions');
      const waiting = await stack.api.startSettled({ method: asking });
      await stack.api.answer(waiting.run_id, { go: true }, waiting.question?.id);
      const asked = await viewer.request('GET', `/api/usage?method=${asking}`);
      const rows = asked.read<{ items: { answers: number; answering_ms: { sum: number; p95: number } }[] }>().items;
      assert.ok(rows.some(({ answers, answering_ms: { sum, p95 } }) => answers > 0 && sum >= p95 && p95 > 0));
      await stack.api.settled(waiting.run_id);
      await stack.api.cancel(waiting.run_id);
    });

    test('has before and after in its audit log', async () => {
      const { admin } = world();
      const lines = async (action: string, field: string) => {
        const page = await admin.request('GET', `/api/audit?action=${action}`);
        const { items } = page.read<{ items: Record<'before' | 'after', Record<string, unknown>>[] }>();
        return items.toReversed().map(({ before, after }) => [before[field], after[field]]);
      };
      assert.deepEqual(await lines('member.role', 'role'), [
        ['member', 'viewer'],
        ['viewer', 'member'],
      ]);
      assert.deepEqual(await lines('settings.change', 'content_on_devices'), [
        [false, true],
        [true, false],
      ]);
    });
  });
}
