import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newOpaqueToken } from '@methods/auth/opaque-token';
import { newId } from '@methods/base/ids';
import { PUBLIC_URL } from '../../testing/issuer-config.fixture.ts';
import { type ProbeFixture, probeFixture } from '../../testing/probe.fixture.ts';
import { turnedClock } from '../../testing/turned-clock.fixture.ts';

/** Returns the cookie that a reply sets: its value and its attributes. */
function setCookie(reply: { headers: Record<string, unknown> }): { value: string; attributes: string[] } | null {
  const lines = [reply.headers['set-cookie'] ?? []].flat() as string[];
  const [first = '', ...attributes] = (lines.at(-1) ?? '').split('; ');
  return lines.length === 0 ? null : { value: first.replace('workflow_session=', ''), attributes };
}

const shown = (value: string) => ({ cookie: `workflow_session=${value}` });

/** Signs in as far as the issuer's redirect back. */
async function begun(probes: ProbeFixture, returnTo = '/inbox?x=1') {
  const login = await probes.ask('GET', `/auth/login?return_to=${encodeURIComponent(returnTo)}`);
  assert.equal(login.status, 302, JSON.stringify(login.body));
  const cookie = setCookie(login);
  assert.ok(cookie);
  const approved = await fetch(String(login.headers.location), { redirect: 'manual' });
  const back = new URL(approved.headers.get('location') ?? '');
  return { login, cookie, back, path: back.pathname + back.search };
}

test('signing in replaces the id in the cookie and opens the API until signing out', async () => {
  await using probes = await probeFixture();
  const { login, cookie, path } = await begun(probes);
  const asked = new URL(String(login.headers.location)).searchParams;
  assert.deepEqual(
    [asked.get('response_type'), asked.get('code_challenge_method'), asked.get('redirect_uri')],
    ['code', 'S256', `${PUBLIC_URL}/auth/callback`],
  );
  assert.match(cookie.value, /^[\w-]{43}$/);
  assert.deepEqual(cookie.attributes.filter((each) => !/^Expires/.test(each)).sort(), [
    'HttpOnly',
    'Path=/',
    'SameSite=Lax',
  ]);
  assert.equal((await probes.ask('GET', '/api/viewer', shown(cookie.value))).status, 401, 'nobody is signed in yet');

  const callback = await probes.ask('GET', path, shown(cookie.value));
  assert.deepEqual([callback.status, callback.headers.location], [303, '/inbox?x=1']);
  const session = setCookie(callback);
  assert.ok(session && session.value !== cookie.value);
  const expires = Date.parse(session.attributes.find((each) => each.startsWith('Expires='))?.slice(8) ?? '');
  assert.ok(Math.abs(expires - Date.now() - 7 * 86_400_000) < 60_000);
  const [person] = probes.registry.accounts.people;
  assert.deepEqual(
    [person?.seenAs.email, person?.seenAs.orgName, person?.seenAs.issuer],
    ['ada@acme.example', 'Acme', probes.issuer.url],
  );
  const { status, body } = await probes.ask('GET', '/api/viewer', shown(session.value));
  assert.deepEqual([status, body.userId, body.credential], [200, person?.userId, 'session']);

  const foreign = await probes.ask('POST', '/auth/logout', { ...shown(session.value), origin: 'https://evil.example' });
  assert.equal(foreign.status, 403);
  assert.equal((await probes.ask('GET', '/auth/logout', shown(session.value))).status, 404);
  assert.equal((await probes.ask('GET', '/api/viewer', shown(session.value))).status, 200);
  const logout = await probes.ask('POST', '/auth/logout', { ...shown(session.value), origin: PUBLIC_URL });
  assert.deepEqual([logout.status, setCookie(logout)?.value], [204, '']);
  assert.equal((await probes.ask('GET', '/api/viewer', shown(session.value))).status, 401);
  assert.equal(probes.registry.accounts.sessions.size, 0);
});

test('a browser is signed in to several organizations, each at its own address, and signs out of all', async () => {
  await using probes = await probeFixture();
  const signedInTo = async (organization: string, cookie: string) => {
    probes.issuer.person = { org_id: organization, org_name: organization };
    const login = await probes.ask('GET', '/auth/login?another=true', cookie === '' ? {} : shown(cookie));
    const underWay = setCookie(login)?.value ?? '';
    const approved = await fetch(String(login.headers.location), { redirect: 'manual' });
    const back = new URL(approved.headers.get('location') ?? '');
    const callback = await probes.ask('GET', back.pathname + back.search, shown(underWay));
    assert.equal(callback.status, 303, JSON.stringify(callback.body));
    return { underWay, session: setCookie(callback)?.value ?? '' };
  };
  const orgOf = async (cookie: string, prefix = '') =>
    (await probes.ask('GET', `${prefix}/api/viewer`, shown(cookie))).body.orgId;
  const first = await signedInTo('one', '');
  const one = await orgOf(first.session);
  const second = await signedInTo('two', first.session);
  assert.equal(await orgOf(second.underWay), one, 'a sign-in that is abandoned ends no session');
  const two = await orgOf(second.session);
  assert.notEqual(one, two);
  for (const org of [one, two]) assert.equal(await orgOf(second.session, `/o/${org}`), org);
  const elsewhere = await probes.ask('GET', `/o/${newId('org')}/api/viewer`, shown(second.session));
  assert.deepEqual([elsewhere.status, elsewhere.body.error], [403, 'forbidden']);

  // Again to one that it is signed in to: a new session in place of the old one.
  const again = await signedInTo('one', second.session);
  assert.equal(again.session.split('.').length, 2);
  assert.equal(await orgOf(again.session), one);
  assert.equal((await probes.ask('GET', `/o/${one}/api/viewer`, shown(first.session))).status, 401);
  let { session } = again;
  for (const organization of ['three', 'four', 'five', 'six']) ({ session } = await signedInTo(organization, session));
  assert.equal(session.split('.').length, 5);
  assert.equal(probes.registry.accounts.sessions.size, 5, 'those that are left out have ended');

  const many = Array.from({ length: 1_000 }, () => newOpaqueToken()).join('.');
  assert.equal((await probes.ask('GET', '/api/viewer', shown(many.slice(0, 4_000)))).status, 401);
  const logout = await probes.ask('POST', '/auth/logout', { ...shown(session), origin: PUBLIC_URL });
  assert.deepEqual([logout.status, setCookie(logout)?.value], [204, '']);
  assert.equal(probes.registry.accounts.sessions.size, 0);
});

test('a callback that is replayed, forged or foreign is refused and creates nothing', async () => {
  await using probes = await probeFixture();
  const { accounts } = probes.registry;
  const refused = async (path: string, headers: Record<string, string>, refusal: string) => {
    const before = [accounts.people.length, accounts.sessions.size];
    const reply = await probes.ask('GET', path, headers);
    assert.deepEqual([reply.status, reply.body.error], [400, 'invalid_request'], refusal);
    assert.equal(probes.log.at(-1)?.refusal, refusal);
    assert.deepEqual([accounts.people.length, accounts.sessions.size], before);
    const page = await probes.ask('GET', path, { ...headers, accept: 'text/html' });
    assert.equal(page.status, 400);
    assert.match(String(page.headers['content-type']), /^text\/html/);
    assert.match(page.body, /Sign in again/);
  };
  const first = await begun(probes);
  await refused(first.path, {}, 'sign_in_unknown');
  await refused(first.path, shown(newOpaqueToken()), 'sign_in_unknown');
  assert.equal((await probes.ask('GET', first.path, shown(first.cookie.value))).status, 303);
  await refused(first.path, shown(first.cookie.value), 'sign_in_unknown');

  const cases: [refusal: string, change: (query: URLSearchParams) => void][] = [
    ['sign_in_unknown', (query) => query.set('state', 'forged-state-of-somebody')],
    ['sign_in_unknown', (query) => query.delete('state')],
    ['sign_in_unknown', (query) => query.append('state', 'second')],
    ['sign_in_answer', (query) => query.set('code', 'made-up')],
    ['sign_in_answer', (query) => query.delete('code')],
    ['sign_in_answer', (query) => query.append('code', 'second')],
    ['sign_in_answer', (query) => query.set('iss', 'https://id.example')],
    ['sign_in_declined', (query) => query.set('error', 'access_denied')],
  ];
  for (const [refusal, change] of cases) {
    const { back, cookie } = await begun(probes);
    change(back.searchParams);
    await refused(back.pathname + back.search, shown(cookie.value), refusal);
  }
  const other = await begun(probes);
  const { cookie, path } = await begun(probes);
  await refused(other.path, shown(cookie.value), 'sign_in_unknown');
  // The browser that began the second keeps it: it may be in another tab.
  const foreign = await probes.ask('GET', other.path, shown(cookie.value));
  assert.equal(setCookie(foreign), null);
  assert.equal((await probes.ask('GET', path, shown(cookie.value))).status, 303);
});

test('a forged ID token is refused and creates nothing', async () => {
  await using probes = await probeFixture();
  const now = Math.floor(Date.now() / 1_000);
  const forged: Record<string, object> = {
    'other nonce': { nonce: 'x'.repeat(43) },
    'no nonce': { nonce: undefined },
    'other audience': { aud: 'another-client' },
    'other issuer': { iss: 'https://id.example' },
    expired: { exp: now - 600 },
    'no subject': { sub: undefined },
  };
  for (const [name, change] of Object.entries(forged)) {
    probes.issuer.forge = (claims) => ({ ...claims, ...change });
    const { path, cookie } = await begun(probes);
    const { status, body } = await probes.ask('GET', path, shown(cookie.value));
    assert.deepEqual([status, body.error], [400, 'invalid_request'], name);
  }
  assert.equal(probes.registry.accounts.people.length + probes.registry.accounts.sessions.size, 0);
});

test('a person without an organization gets an error that names the missing claim', async () => {
  await using probes = await probeFixture();
  probes.issuer.person = { org_id: undefined };
  const { path, cookie } = await begun(probes);
  const reply = await probes.ask('GET', path, { ...shown(cookie.value), accept: 'text/html' });
  assert.equal(reply.status, 403);
  assert.match(reply.body, /claim org_id/);
  assert.equal(setCookie(reply)?.value, '');
});

test('claims that the ID token lacks are read from userinfo', async () => {
  await using probes = await probeFixture();
  probes.issuer.forge = ({ email, org_id, org_name, name, ...claims }) => claims;
  const { path, cookie } = await begun(probes);
  assert.equal((await probes.ask('GET', path, shown(cookie.value))).status, 303);
  const [person] = probes.registry.accounts.people;
  assert.deepEqual([person?.seenAs.email, person?.seenAs.externalOrgId], ['ada@acme.example', 'acme']);
});

test('a sign-in only redirects to a path of this server', async () => {
  await using probes = await probeFixture();
  const elsewhere = [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '\\evil',
    'inbox',
    '',
    '/a b',
    '/a\n',
    '/ä',
  ];
  for (const path of [...elsewhere, `/${'x'.repeat(2_048)}`]) {
    const { status } = await probes.ask('GET', `/auth/login?return_to=${encodeURIComponent(path)}`);
    assert.equal(status, 400, path);
  }
  assert.equal((await probes.ask('GET', '/auth/login?return=/inbox')).status, 400);
  assert.equal(probes.registry.accounts.signIns.size, 0);
});

test('a sign-in fails with 503 while the issuer or the registry is unavailable', async () => {
  const { clock, turn } = turnedClock();
  await using probes = await probeFixture({ clock });
  probes.issuer.away = true;
  const away = await probes.ask('GET', '/auth/login', { accept: 'text/html' });
  assert.equal(away.status, 503);
  assert.ok(away.headers['retry-after']);
  probes.issuer.away = false;
  turn(5_000);
  const { path, cookie } = await begun(probes);
  probes.issuer.away = true;
  assert.equal((await probes.ask('GET', path, shown(cookie.value))).status, 503);
  probes.issuer.away = false;
  probes.registry.away = true;
  assert.equal((await probes.ask('GET', '/auth/login')).status, 503);
});
