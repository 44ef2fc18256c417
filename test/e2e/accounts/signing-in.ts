// Signing in with a browser at the stack's identity provider, and out again.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Reply } from '../api-client.ts';
import { begunSignIn } from '../browser-session.ts';
import { pagesFor, person, sessionOf } from '../people.ts';
import { type AccountWorld, onBothGateways } from './account-world.ts';

interface Whoami {
  readonly user: { readonly email: string; readonly name: string };
  readonly role: string;
  readonly organization: { readonly id: string; readonly name: string };
  readonly credential: string;
}

export function signingIn(world: () => AccountWorld): void {
  describe('signing in', () => {
    test('with a browser gives a session that all gateways know until it is signed out', async () => {
      const { stack } = world();
      const session = await sessionOf(stack, { email: 'bea.browser@example.com', role: 'member' });
      const cookie = `workflow_session=${session}`;
      const ask = async (baseUrl: string) => {
        const reply = await fetch(`${baseUrl}/api/whoami`, { headers: { cookie } });
        return new Reply(reply.status, reply.headers, await reply.text());
      };
      for (const url of stack.gateways) {
        const { user, role, organization, credential } = (await ask(url)).read<Whoami>();
        assert.deepEqual([user.email, user.name, role], ['bea.browser@example.com', 'Bea Browser', 'member']);
        assert.deepEqual([organization, credential], [{ id: stack.ready.org_id, name: 'Local' }, 'session']);
      }
      const [first = ''] = stack.gateways;
      const headers = { cookie, origin: stack.ready.base_url };
      const out = await fetch(`${first}/auth/logout`, { method: 'POST', headers });
      assert.equal(out.status, 204);
      await onBothGateways(world(), 'the session has ended', ask, ({ status }) => status === 401);
    });

    test('by a callback that is replayed, in a foreign browser or with a forged state is refused', async () => {
      const { stack } = world();
      const people = async () => {
        const [row] = await stack.sql`
          select (select count(*) from registry.users) as users, (select count(*) from registry.sessions) as sessions`;
        return { ...row };
      };
      const who = { email: 'mallory@example.com', role: 'admin' } as const;
      const good = await begunSignIn(stack.ready.base_url, pagesFor(who));
      const forged = new URL(good.callback);
      forged.searchParams.set('state', 'x'.repeat(43));
      const other = await begunSignIn(stack.ready.base_url, pagesFor(who));
      const before = await people();
      const come = (url: string, cookie = '') => fetch(url, { redirect: 'manual', headers: { cookie } });
      for (const reply of [await come(good.callback), await come(forged.href, other.cookie)]) {
        assert.equal(reply.status, 400);
        assert.equal(((await reply.json()) as { error: string }).error, 'invalid_request');
        assert.deepEqual(
          reply.headers.getSetCookie().filter((text) => !/=;/.test(text)),
          [],
        );
      }
      assert.deepEqual(await people(), before);
      assert.equal((await come(good.callback, good.cookie)).status, 303);
      assert.equal((await come(good.callback, good.cookie)).status, 400, 'once');
    });

    test('brings a person of another organization nowhere near this one', async () => {
      const { stack } = world();
      const stranger = await person(stack, { email: 'ada@example.com', role: 'admin', organization: 'Elsewhere' });
      const { organization } = (await stranger.request('GET', '/api/whoami')).read<Whoami>();
      assert.equal(organization.name, 'Elsewhere');
      assert.notEqual(organization.id, stack.ready.org_id);
      assert.deepEqual((await stranger.request('GET', '/api/methods')).read(), { items: [], next_cursor: null });
      const id = stack.method('greet');
      assert.equal((await stranger.request('GET', `/api/methods/${id}`)).status, 404);
    });
  });
}
