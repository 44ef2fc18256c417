// What a gateway has changed itself, it knows with the reply: here no bus brings events.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createServiceKey } from '@methods/auth/service-key';
import { until } from '@methods/test/harness/until';
import { type ApiFixture, type Asking, assertRefused, commonRegistryApi } from '../testing/api.fixture.ts';
import { RunBook } from '../testing/run-book.fixture.ts';
import { SchedulerPeer } from '../testing/scheduler-peer.fixture.ts';

const node = new SchedulerPeer(new RunBook());
let api: ApiFixture;
let admin: Asking;
before(async () => {
  await node.start();
  api = await commonRegistryApi({ runSchedulerAddresses: [node.address] });
  admin = await api.person('admin');
  await admin('GET', '/api/whoami');
  await until('the node is linked', () => node.linked);
});
after(async () => {
  await api?.[Symbol.asyncDispose]();
  await node.stop();
});

const source = (question: string) =>
  `format: method/2\nname: greet\nsteps:\n  - name: approve\n    ask: ${question}\n    out: { ok: boolean }\n`;

test('a start after a publication runs the version that was published', async () => {
  const made = await admin('POST', '/api/methods', { idempotency_key: randomUUID(), source: source('Send it?') });
  const { id, current_version: first } = made.body.method;
  const saved = await admin('POST', `/api/methods/${id}/versions`, {
    base_version: first,
    source: source('Really send it?'),
    reason: 'clearer',
  });
  const second = saved.body.version_id;
  assert.notEqual(second, first);
  for (const version of [first, second, first]) {
    await admin('POST', `/api/methods/${id}/publish`, { version_id: version });
    const { status, body } = await admin('POST', '/api/runs', { method: id });
    assert.deepEqual([status, body.version_id], [201, version], JSON.stringify(body));
  }
});

test('a key that was revoked is refused by the next call', async () => {
  const { key, authSha256 } = createServiceKey();
  const made = await admin('POST', '/api/keys', { name: 'app', auth_sha256: authSha256.toString('hex') });
  const byKey = () => admin('GET', '/v1/runs?limit=1', undefined, { authorization: `Bearer ${key}` });
  assert.equal((await byKey()).status, 200);
  await admin('POST', `/api/keys/${made.body.key.id}/revoke`);
  assertRefused(await byKey(), 401, 'unauthorized');
});

test('a person whose role has changed has the new one in the next call, and none once their access has ended', async () => {
  const person = await api.person('member');
  const id = (await person('GET', '/api/whoami')).body.user.id;
  for (const role of ['viewer', 'admin', 'viewer']) {
    await admin('PATCH', `/api/members/${id}`, { role });
    assert.equal((await person('GET', '/api/whoami')).body.role, role);
  }
  await admin('DELETE', `/api/members/${id}`);
  assertRefused(await person('GET', '/api/runs?limit=1'), 403, 'forbidden');
});
