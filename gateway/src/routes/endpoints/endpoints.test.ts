import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertRefused } from '../../testing/api.fixture.ts';
import { fileApi } from '../../testing/file-api.fixture.ts';

const { running, admin, member, viewer, stranger } = fileApi();
const CHAT = 'https://hooks.slack.example/services/T000/B000/abcdefghijkl';

before(async () => {
  for (const person of [admin, member, viewer, stranger]) await person('GET', '/api/whoami');
});

let made = 0;
async function create(more: object = {}) {
  const body = { name: `Endpoint ${made++}`, url: 'https://hook.example/in?token=hidden', events: ['failed'], ...more };
  const reply = await admin('POST', '/api/endpoints', body);
  assert.equal(reply.status, 201, JSON.stringify(reply.body));
  return reply;
}

async function removeAll() {
  for (const { id } of (await admin('GET', '/api/endpoints')).body.items) await admin('DELETE', `/api/endpoints/${id}`);
}

test('an endpoint is created with a secret that is shown once, and listed without it', async () => {
  const { body, headers } = await create({ name: 'On call', events: ['failed', 'needs_input'] });
  assert.match(body.webhook_secret, /^whsec_/);
  assert.equal(headers.get('cache-control'), 'no-store');
  const { endpoint } = body;
  assert.deepEqual(endpoint, {
    id: endpoint.id,
    name: 'On call',
    format: 'webhook',
    url: 'https://hook.example/in?…',
    events: ['needs_input', 'failed'],
    paused: false,
    created_at: endpoint.created_at,
    created_by: endpoint.created_by,
    earlier_secret_until: null,
  });
  assert.match(endpoint.id, /^ep_/);
  assert.equal(endpoint.created_by.kind, 'user');
  const list = await admin('GET', '/api/endpoints');
  assert.deepEqual(list.body.items.at(-1), endpoint);
  assert.ok(!JSON.stringify(list.body).includes('whsec_'));
});

test('the URL of a chat is in no reply, log or line of the audit log', async () => {
  const { body } = await create({ format: 'slack', url: CHAT });
  assert.equal(body.webhook_secret, undefined);
  const { id } = body.endpoint;
  const changed = await admin('PATCH', `/api/endpoints/${id}`, { url: `${CHAT}2`, paused: true });
  const refused = await admin('PATCH', `/api/endpoints/${id}`, { url: CHAT.replace('https', 'http') });
  assertRefused(refused, 422, 'invalid_webhook_url');
  assertRefused(await admin('POST', `/api/endpoints/${id}/rotate`), 400, 'invalid_request', 'format');
  const { body: audit } = await admin('GET', `/api/audit?target=${id}`);
  assert.deepEqual(
    audit.items.map(({ action }: { action: string }) => action),
    ['endpoint.change', 'endpoint.create'],
  );
  const seen = [body, changed.body, refused.body, audit, (await admin('GET', '/api/endpoints')).body, running().log];
  assert.ok(!JSON.stringify(seen).includes('abcdefghijkl'));
  assert.equal(changed.body.endpoint.url, 'https://hooks.slack.example/…');
});

test('a change keeps the fields it omits, and a rotation shows how long the earlier secret signs', async () => {
  const { body } = await create();
  const path = `/api/endpoints/${body.endpoint.id}`;
  const changed = await admin('PATCH', path, { paused: true });
  assert.deepEqual(changed.body.endpoint, { ...body.endpoint, paused: true });
  for (const [sent, overlapMs] of [
    [undefined, 86_400_000],
    [{ overlap_ms: 3_600_000 }, 3_600_000],
  ] as const) {
    const began = Date.now();
    const rotated = await admin('POST', `${path}/rotate`, sent);
    assert.equal(rotated.status, 200);
    assert.equal(rotated.headers.get('cache-control'), 'no-store');
    assert.notEqual(rotated.body.webhook_secret, body.webhook_secret);
    const until = Date.parse(rotated.body.endpoint.earlier_secret_until);
    assert.ok(until >= began + 86_400_000 - 1_000 || until >= began + overlapMs - 1_000);
  }
  assertRefused(await admin('POST', `${path}/rotate`, { overlap_ms: 604_800_001 }), 400, 'invalid_request');
  assertRefused(await admin('POST', `${path}/rotate`, { overlap: 1 }), 400, 'invalid_request');
  assert.equal((await admin('DELETE', path)).status, 204);
  assertRefused(await admin('DELETE', path), 404, 'not_found');
  assertRefused(await admin('PATCH', path, { paused: false }), 404, 'not_found');
});

test('URLs that webhooks may not use are refused, at creation and at a change', async () => {
  const { body } = await create();
  for (const url of [
    'http://hook.example/in',
    'https://10.0.0.1/in',
    'https://[::1]/in',
    'https://localhost/in',
    'https://169.254.169.254/latest',
    'https://hook.example:8443/in',
    'https://user:pw@hook.example/in',
    'ftp://hook.example/in',
    'not a url',
  ]) {
    const events = ['failed'];
    assertRefused(await admin('POST', '/api/endpoints', { name: url, url, events }), 422, 'invalid_webhook_url');
    assertRefused(await admin('PATCH', `/api/endpoints/${body.endpoint.id}`, { url }), 422, 'invalid_webhook_url');
  }
  await admin('PATCH', '/api/settings', { webhook_hosts: ['*.shop.example'] });
  try {
    const other = { name: 'Elsewhere', url: 'https://hook.example/in', events: ['failed'] };
    assertRefused(await admin('POST', '/api/endpoints', other), 422, 'invalid_webhook_url');
    await create({ url: 'https://in.shop.example/in' });
  } finally {
    await admin('PATCH', '/api/settings', { webhook_hosts: [] });
  }
});

test('bad values are refused with the faulty field', async () => {
  const good = { name: 'Good', url: 'https://hook.example/in', events: ['failed'] };
  for (const bad of [
    { ...good, name: '' },
    { ...good, name: 'x'.repeat(201) },
    { ...good, url: `https://hook.example/${'x'.repeat(2_048)}` },
    { ...good, events: [] },
    { ...good, events: ['started'] },
    { ...good, events: ['failed', 'failed'] },
    { ...good, format: 'discord' },
    { ...good, secret: 'mine' },
    { name: 'No URL', events: ['failed'] },
  ]) {
    assertRefused(await admin('POST', '/api/endpoints', bad), 400, 'invalid_request');
  }
  await create({ name: 'Taken' });
  assertRefused(
    await admin('POST', '/api/endpoints', { ...good, name: 'Taken' }),
    400,
    'invalid_request',
    'name_taken',
  );
});

test('the 21st endpoint is refused, and another organization does not see these', async () => {
  await removeAll();
  const all = await Promise.all(Array.from({ length: 20 }, () => create()));
  const one = { name: 'One more', url: 'https://hook.example/in', events: ['failed'] };
  assertRefused(await admin('POST', '/api/endpoints', one), 400, 'invalid_request', 'endpoints');
  assert.deepEqual((await stranger('GET', '/api/endpoints')).body, { items: [], next_cursor: null });
  const id = all[0]?.body.endpoint.id;
  assertRefused(await stranger('PATCH', `/api/endpoints/${id}`, { paused: true }), 404, 'not_found');
  assertRefused(await member('GET', '/api/endpoints'), 403, 'forbidden');
  await removeAll();
});
