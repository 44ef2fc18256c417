import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, test } from 'node:test';
import { createServiceKey } from '@methods/auth/service-key';
import { newId, newRunId } from '@methods/base/ids';
import { sealed } from '@methods/content/sealed.fixture';
import { assertRefused } from '../../testing/api.fixture.ts';
import { fileApi } from '../../testing/file-api.fixture.ts';

const { running, admin, member, viewer, stranger } = fileApi();

before(async () => {
  // They are known from their first request on.
  for (const person of [admin, member, viewer, stranger]) await person('GET', '/api/whoami');
});

async function withKey(key: string): Promise<number> {
  const url = `http://127.0.0.1:${running().port}/v1/runs/run_malformed`;
  return (await fetch(url, { headers: { authorization: `Bearer ${key}` } })).status;
}

async function newKey(name = 'Order desk') {
  const made = createServiceKey();
  const reply = await admin('POST', '/api/keys', { name, auth_sha256: made.authSha256.toString('hex') });
  assert.equal(reply.status, 201, JSON.stringify(reply.body));
  return { made, reply, id: reply.body.key.id as string };
}

test('whoami returns the caller, the organization and the kind of credential, and no secret', async () => {
  const { status, body } = await viewer('GET', '/api/whoami');
  assert.equal(status, 200);
  assert.match(body.user.id, /^usr_/);
  assert.match(body.organization.id, /^org_/);
  assert.deepEqual(body, {
    user: { id: body.user.id, email: '', name: body.user.name },
    role: 'viewer',
    organization: { id: body.organization.id, name: 'acme' },
    organizations: [body.organization],
    credential: 'machine_token',
  });
  const other = await stranger('GET', '/api/whoami');
  assert.equal(other.body.role, 'admin');
  assert.notEqual(other.body.organization.id, body.organization.id);
});

test('a key is registered by its hash, opens /v1, and its webhook secret is shown once and not cached', async () => {
  const { made, reply, id } = await newKey();
  assert.match(reply.body.webhook_secret, /^whsec_/);
  assert.equal(reply.headers.get('cache-control'), 'no-store');
  const { key } = reply.body;
  assert.deepEqual(key, { ...key, name: 'Order desk', last_used_at: null, revoked_at: null });
  assert.equal(key.created_by.kind, 'user');
  assert.match(key.created_at, /^\d{4}-.*Z$/);
  assert.equal(await withKey(made.key), 404, 'known, and no such run');

  const { body } = await admin('GET', '/api/keys');
  assert.equal(body.next_cursor, null);
  assert.deepEqual(
    body.items.find((each: { id: string }) => each.id === id),
    key,
  );
  assert.ok(!JSON.stringify(body).includes('whsec_'));
  assert.ok(!JSON.stringify(running().log).includes(reply.body.webhook_secret));
});

test('a new webhook secret differs from the earlier one and is shown once', async () => {
  const { id, reply } = await newKey();
  const renewed = await admin('POST', `/api/keys/${id}/webhook-secret`, {});
  assert.equal(renewed.status, 200);
  assert.match(renewed.body.webhook_secret, /^whsec_/);
  assert.notEqual(renewed.body.webhook_secret, reply.body.webhook_secret);
  assert.equal(renewed.headers.get('cache-control'), 'no-store');
});

test('a revoked key opens nothing, and a repeat changes nothing', async () => {
  const { made, id } = await newKey();
  const first = await admin('POST', `/api/keys/${id}/revoke`);
  assert.equal(first.status, 200);
  assert.ok(first.body.key.revoked_at);
  const again = await admin('POST', `/api/keys/${id}/revoke`);
  assert.equal(again.body.key.revoked_at, first.body.key.revoked_at);
  assert.equal(await withKey(made.key), 401);
});

test('a request whose reply with a key was lost can be repeated', async () => {
  const { made, reply, id } = await newKey('Lost');
  const again = { name: 'Lost', auth_sha256: made.authSha256.toString('hex') };
  const repeat = await admin('POST', '/api/keys', again);
  assert.deepEqual([repeat.status, repeat.body], [200, reply.body]);
  assertRefused(await admin('POST', '/api/keys', { ...again, name: 'Other' }), 409, 'idempotency_conflict');
  const { body } = await admin('GET', '/api/keys');
  assert.equal(body.items.filter((key: { name: string }) => key.name === 'Lost').length, 1);
  assert.equal(body.items.find((key: { name: string }) => key.name === 'Lost')?.id, id);
});

test('keys come in pages', async () => {
  for (const name of ['First', 'Second']) {
    const auth_sha256 = createServiceKey().authSha256.toString('hex');
    assert.equal((await admin('POST', '/api/keys', { name, auth_sha256 })).status, 201);
  }
  const names = (items: { name: string }[]) => items.map(({ name }) => name);
  const all = (await admin('GET', '/api/keys')).body;
  const first = (await admin('GET', '/api/keys?limit=1')).body;
  assert.deepEqual(names(first.items), ['Second']);
  const rest = (await admin('GET', `/api/keys?limit=200&cursor=${first.next_cursor}`)).body;
  assert.deepEqual([...names(first.items), ...names(rest.items)], names(all.items));
  assert.equal(rest.next_cursor, null);
  assertRefused(await admin('GET', '/api/keys?limit=0'), 400, 'invalid_request', 'limit');
  assertRefused(await admin('GET', '/api/keys?cursor=nonsense'), 400, 'invalid_request', 'cursor');
});

async function asProgram(key: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const url = `http://127.0.0.1:${running().port}/v1/whoami`;
  const reply = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
}

test('a program learns its organization and key, a person has no key, and both where content is kept', async () => {
  const { organization } = (await admin('GET', '/api/whoami')).body;
  const { made, id } = await newKey();
  const known = { org_id: organization.id, content_on_devices: false, content_grants: [] };
  assert.deepEqual(await asProgram(made.authPart), { status: 200, body: { ...known, key_id: id } });
  assert.deepEqual((await viewer('GET', '/v1/whoami')).body, { ...known, key_id: null });
  const devices = (on: boolean) => admin('PATCH', '/api/settings', { content_on_devices: on });
  await devices(true);
  assert.equal((await asProgram(made.key)).body.content_on_devices, true);
  await devices(false);
});

test('a content part granted to a key is shown to programs with that key only', async () => {
  const [from, to] = [await newKey('Old'), await newKey('New')];
  const { $sealed: wrapped } = sealed({ kind: 'grant', plainBytes: 43 });
  const grant = (id: string, body: object, by = admin) => by('POST', `/api/keys/${id}/content-grants`, body);
  const granted = await grant(to.id, { from_key_id: from.id, wrapped });
  assert.deepEqual([granted.status, granted.body], [200, { key_id: to.id, from_key_id: from.id }]);
  assert.deepEqual((await asProgram(to.made.key)).body.content_grants, [{ from_key_id: from.id, wrapped }]);
  assert.deepEqual((await asProgram(from.made.key)).body.content_grants, []);

  assertRefused(await grant(to.id, { from_key_id: from.id, wrapped }, member), 403, 'forbidden');
  assertRefused(await grant(to.id, { from_key_id: from.id, wrapped }, stranger), 404, 'not_found');
  assertRefused(await grant(to.id, { from_key_id: 'key_other', wrapped }), 404, 'not_found');
  const hashOf = (key: string) => createHash('sha256').update(key.slice(0, 46)).digest('hex');
  const named = (key: string) => grant(to.id, { from_key_id: from.id, wrapped, from_auth_sha256: hashOf(key) });
  assert.equal((await named(from.made.key)).status, 200);
  assertRefused(await named(to.made.key), 400, 'invalid_request');
  const bad = [wrapped.slice(4), `${wrapped}=`, sealed({ kind: 'inputs' }).$sealed, 'A', 'A'.repeat(1_366)];
  for (const text of bad)
    assertRefused(await grant(to.id, { from_key_id: from.id, wrapped: text }), 400, 'invalid_request');
  assertRefused(await grant(to.id, { from_key_id: from.id, wrapped: 'A'.repeat(2_000) }), 400, 'invalid_request');
});

test('only admins of their organization manage keys', async () => {
  const { id } = await newKey();
  const hash = createServiceKey().authSha256.toString('hex');
  for (const person of [member, viewer]) {
    assertRefused(await person('GET', '/api/keys'), 403, 'forbidden');
    assertRefused(await person('POST', '/api/keys', { name: 'x', auth_sha256: hash }), 403, 'forbidden');
    assertRefused(await person('POST', `/api/keys/${id}/revoke`), 403, 'forbidden');
  }
  for (const action of ['revoke', 'webhook-secret']) {
    assertRefused(await stranger('POST', `/api/keys/${id}/${action}`), 404, 'not_found');
    assertRefused(await admin('POST', `/api/keys/${newId('key')}/${action}`), 404, 'not_found');
    assertRefused(await admin('POST', `/api/keys/key_1/${action}`), 404, 'not_found');
    assertRefused(await admin('POST', `/api/keys/${id}/${action}`, { reason: 'x' }), 400, 'invalid_request');
  }
  const { body } = await stranger('GET', '/api/keys');
  assert.deepEqual(body.items, []);
  for (const bad of [{ name: '' }, { auth_sha256: 'ab' }, { auth_sha256: hash.toUpperCase() }, { key: 'sk_x' }]) {
    assertRefused(await admin('POST', '/api/keys', { name: 'x', auth_sha256: hash, ...bad }), 400, 'invalid_request');
  }
});

test('settings are read by all, changed by admins, field by field', async () => {
  const first = await viewer('GET', '/api/settings');
  assert.deepEqual(first.body, {
    content_on_devices: false,
    retention_days: 30,
    webhook_hosts: [],
    time_zone: 'UTC',
  });
  const hosts = ['Hooks.Example.com.', '*.shop.example.com', 'hooks.example.com'];
  const changed = await admin('PATCH', '/api/settings', { webhook_hosts: hosts });
  const after = { ...first.body, webhook_hosts: ['hooks.example.com', '*.shop.example.com'] };
  assert.deepEqual([changed.status, changed.body], [200, after]);
  await admin('PATCH', '/api/settings', { retention_days: 90 });
  assert.deepEqual((await viewer('GET', '/api/settings')).body, { ...after, retention_days: 90 });
  assert.deepEqual((await stranger('GET', '/api/settings')).body, first.body);
  await admin('PATCH', '/api/settings', first.body);
  assert.deepEqual((await viewer('GET', '/api/settings')).body, first.body);

  assertRefused(await member('PATCH', '/api/settings', { retention_days: 1 }), 403, 'forbidden');
  const bad = [
    { retention_days: 0 },
    { time_zone: 'Mars/Base' },
    { retention_days: 3_651 },
    { retention_days: '5' },
    { content_on_devices: 1 },
    { webhook_hosts: ['https://example.com'] },
    { webhook_hosts: Array.from({ length: 101 }, (_, i) => `h${i}.example.com`) },
    { retention: 5 },
  ];
  for (const body of bad) assertRefused(await admin('PATCH', '/api/settings', body), 400, 'invalid_request');
});

test('members are listed page by page, and an admin changes their roles', async () => {
  const one = await viewer('GET', '/api/members?limit=2');
  const two = await viewer('GET', `/api/members?limit=2&cursor=${one.body.next_cursor}`);
  const all = [...one.body.items, ...two.body.items];
  assert.deepEqual(all.map(({ role }) => role).sort(), ['admin', 'member', 'viewer']);
  assert.equal(two.body.next_cursor, null);
  const { user } = (await viewer('GET', '/api/whoami')).body;

  assertRefused(await member('PATCH', `/api/members/${user.id}`, { role: 'admin' }), 403, 'forbidden');
  assertRefused(await stranger('PATCH', `/api/members/${user.id}`, { role: 'admin' }), 404, 'not_found');
  assertRefused(await admin('PATCH', `/api/members/${newId('usr')}`, { role: 'admin' }), 404, 'not_found');
  assertRefused(await admin('PATCH', '/api/members/me', { role: 'admin' }), 404, 'not_found');
  assertRefused(await admin('PATCH', `/api/members/${user.id}`, { role: 'owner' }), 400, 'invalid_request');
  const self = (await admin('GET', '/api/whoami')).body.user.id;
  const last = await admin('PATCH', `/api/members/${self}`, { role: 'member' });
  assertRefused(last, 400, 'invalid_request');
  assert.equal(last.body.details[0].code, 'last_admin');

  const changed = await admin('PATCH', `/api/members/${user.id}`, { role: 'member' });
  assert.deepEqual([changed.status, changed.body.id, changed.body.role], [200, user.id, 'member']);
  await admin('PATCH', `/api/members/${user.id}`, { role: 'viewer' });
});

test('an admin ends the access of a member, whose token and session are refused from then on', async () => {
  const { registry, issuer, person, session } = running();
  const [boss, leaver] = [await person('admin', 'leavers'), await person('member', 'leavers')];
  const self = (await boss('GET', '/api/whoami')).body.user.id;
  const claims = { issuer: issuer.url, externalOrgId: 'leavers', subject: 'leavers-member' };
  const { member: known } = await registry.accounts.ensureUser(claims);
  assert.ok(known);
  const cookie = await session(known.orgId, known.userId);
  const path = `/api/members/${known.userId}`;
  assertRefused(await admin('DELETE', path), 404, 'not_found');
  assertRefused(await boss('DELETE', '/api/members/me'), 404, 'not_found');
  assertRefused(await boss('DELETE', `/api/members/${self}`), 400, 'invalid_request', 'last_admin');
  assertRefused(await member('DELETE', path), 403, 'forbidden');

  const ended = await boss('DELETE', path);
  assert.deepEqual([ended.status, ended.body.id, ended.body.disabled_at === null], [200, known.userId, false]);
  assert.equal((await boss('DELETE', path)).body.disabled_at, ended.body.disabled_at, 'a repeat changes nothing');
  assertRefused(await leaver('GET', '/api/whoami'), 403, 'forbidden');
  const url = `http://127.0.0.1:${running().port}/api/whoami`;
  assert.equal((await fetch(url, { headers: cookie.headers })).status, 401);
  assertRefused(await boss('PATCH', path, { role: 'admin' }), 404, 'not_found');
});

test('the audit log shows admins who changed what, from where, with before and after', async () => {
  const { id } = await newKey('Watched');
  await admin('POST', `/api/keys/${id}/revoke`);
  const { body } = await admin('GET', `/api/audit?target=${id}`);
  assert.deepEqual(
    body.items.map(({ action }: { action: string }) => action),
    ['key.revoke', 'key.create'],
  );
  const [line] = body.items;
  const self = (await admin('GET', '/api/whoami')).body.user.id;
  assert.match(line.id, /^aud_/);
  assert.deepEqual([line.by.kind, line.by.id, line.target], ['user', self, { kind: 'key', id }]);
  assert.equal(line.ip, '127.0.0.1');
  assert.ok(line.request_id && line.at);

  const mine = await admin('GET', `/api/audit?by=${self}&action=key.create&limit=1`);
  assert.equal(mine.body.items[0].target.id, id);
  const older = await admin('GET', `/api/audit?by=${self}&action=key.create&limit=1&cursor=${mine.body.next_cursor}`);
  assert.notEqual(older.body.items[0].target.id, id);
  const counts = [
    'after=1969-12-31T00:00:00Z',
    `before=${line.at}`,
    `after=${line.at}`,
    'before=1970-01-01T00:00:00Z',
  ].map(async (time) => (await admin('GET', `/api/audit?target=${id}&${time}`)).body.items.length);
  assert.deepEqual(await Promise.all(counts), [2, 1, 1, 0]);

  assert.deepEqual((await stranger('GET', `/api/audit?target=${id}`)).body.items, []);
  for (const person of [member, viewer]) assertRefused(await person('GET', '/api/audit'), 403, 'forbidden');
  for (const query of ['cursor=x', 'limit=0', 'limit=201', 'limit=ten', 'actions=x', 'after=today', 'before=']) {
    assertRefused(await admin('GET', `/api/audit?${query}`), 400, 'invalid_request');
  }
  assert.ok(!JSON.stringify((await admin('GET', '/api/audit?limit=200')).body).includes('whsec_'));
});

test('callers without a credential, and service keys, reach none of these routes', async () => {
  const { made } = await newKey();
  const paths = ['whoami', 'settings', 'members', 'keys', 'audit', 'runs', `runs/${newRunId(1)}`];
  for (const path of paths) {
    for (const authorization of ['', `Bearer ${made.key}`]) {
      const reply = await admin('GET', `/api/${path}`, undefined, { authorization });
      assert.deepEqual([reply.status, reply.body], [401, { error: 'unauthorized' }], path);
    }
  }
});
