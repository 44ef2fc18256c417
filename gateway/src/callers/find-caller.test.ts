import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { newOpaqueToken } from '@methods/auth/opaque-token';
import { systemClock } from '@methods/base/clock';
import { newId, type OrgId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import Fastify from 'fastify';
import { addCallerFields } from '../plugins/caller.ts';
import { addRouteTable } from '../plugins/caller-access.ts';
import { addCallerScope } from '../plugins/caller-scope.ts';
import { LargeBodies } from '../plugins/large-bodies.ts';
import { OrganizationTurns } from '../plugins/organization-turns.ts';
import { UnreadReplies } from '../plugins/unread-replies.ts';
import { MACHINE, PUBLIC_URL } from '../testing/issuer-config.fixture.ts';
import { type ProbeFixture, probeFixture } from '../testing/probe.fixture.ts';
import { LongWork } from '../turns/long-work.ts';

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Signs a person in at the registry and returns their cookie. */
async function cookieOf(probes: ProbeFixture, subject: string, role: string) {
  const token = await probes.issuer.token({ aud: MACHINE, sub: subject, role });
  const { body } = await probes.ask('GET', '/api/viewer', bearer(token));
  const person = probes.registry.accounts.people.find(({ userId }) => userId === body.userId);
  assert.ok(person);
  const value = newOpaqueToken();
  const sha256 = createHash('sha256').update(value).digest('hex');
  probes.registry.accounts.sessions.set(sha256, { person, expiresAtMs: Date.now() + 60_000 });
  return { person, sha256, cookie: { cookie: `other=1; workflow_session=${value}` } };
}

function change(kind: string, orgId: OrgId, id: string, authSha256 = '') {
  return { $typeName: 'methods.event.v1.RegistryChanged' as const, kind, orgId, id, authSha256 };
}

test('each surface accepts its own credentials and answers all others with the same 401', async () => {
  await using probes = await probeFixture();
  const orgId = newId('org');
  const key = probes.registry.key(orgId);
  const { cookie } = await cookieOf(probes, 'ada', 'admin');
  const shown: Record<string, Record<string, string>> = {
    nothing: {},
    key: bearer(key.key),
    'auth part': bearer(key.authPart),
    machine: bearer(await probes.issuer.token({ aud: MACHINE })),
    cookie,
    upload: { authorization: `WorkflowUpload ${newOpaqueToken()}` },
    basic: { authorization: 'Basic YTpi' },
  };
  const takes: Record<string, string[]> = {
    '/v1/viewer': ['key', 'auth part', 'machine'],
    '/api/cli/viewer': ['machine'],
    '/api/viewer': ['machine', 'cookie'],
    '/api/workflow-uploads/upl_1/content': [],
  };
  probes.registry.uploadService.answer({
    resolveUploadToken: () => {
      throw new ServiceError('unauthorized');
    },
  });
  for (const [path, taken] of Object.entries(takes)) {
    for (const [name, headers] of Object.entries(shown)) {
      const reply = await probes.ask('GET', path, headers);
      assert.equal(reply.status, taken.includes(name) ? 200 : 401, `${name} at ${path}`);
      if (reply.status === 401) assert.deepEqual(reply.body, { error: 'unauthorized' });
    }
  }
});

test('a 401 of the API leads MCP clients to the issuer', async () => {
  await using probes = await probeFixture();
  const challenge = async (path: string) => (await probes.ask('GET', path)).headers['www-authenticate'];
  assert.equal(
    await challenge('/api/viewer'),
    `Bearer resource_metadata="${PUBLIC_URL}/.well-known/oauth-protected-resource/mcp", scope="openid profile email"`,
  );
  assert.equal(await challenge('/v1/viewer'), 'Bearer');
  assert.equal(await challenge('/api/workflow-uploads/upl_1/content'), 'WorkflowUpload');
});

test('a role may use everything that it and lower roles may; a key acts as a member', async () => {
  await using probes = await probeFixture();
  const roles = ['viewer', 'member', 'admin'];
  for (const [rank, role] of roles.entries()) {
    const headers = bearer(await probes.issuer.token({ aud: MACHINE, sub: role, role }));
    for (const prefix of ['/v1', '/api/cli', '/api']) {
      for (const [needed, access] of roles.entries()) {
        const { status, body } = await probes.ask('POST', `${prefix}/${access}`, headers);
        assert.equal(status, needed <= rank ? 200 : 403, `${role} at ${prefix}/${access}`);
        if (status === 403) assert.deepEqual([body.error, probes.log.at(-1)?.refusal], ['forbidden', 'role']);
      }
    }
  }
  const key = bearer(probes.registry.key(newId('org')).authPart);
  const asKey = roles.map(async (access) => (await probes.ask('GET', `/v1/${access}`, key)).status);
  assert.deepEqual(await Promise.all(asKey), [200, 200, 403]);
});

test('a change with the cookie needs the origin of this server', async () => {
  await using probes = await probeFixture();
  const { cookie, person } = await cookieOf(probes, 'ada', 'admin');
  const origins = [
    undefined,
    'null',
    '',
    'https://evil.example',
    `${PUBLIC_URL}.evil.example`,
    'http://127.0.0.1:8081',
  ];
  for (const origin of [...origins, `${PUBLIC_URL}/`, PUBLIC_URL.replace('http:', 'https:')]) {
    const headers = { ...cookie, ...(origin === undefined ? {} : { origin }) };
    assert.equal((await probes.ask('POST', '/api/admin', headers)).status, 403, String(origin));
    assert.equal((await probes.ask('GET', '/api/admin', headers)).status, 200, String(origin));
  }
  const { status, body } = await probes.ask('POST', '/api/admin', { ...cookie, origin: PUBLIC_URL });
  assert.deepEqual([status, body.kind, body.id], [200, 'user', person.userId]);
});

test('Authorization takes precedence over the cookie, good or bad', async () => {
  await using probes = await probeFixture();
  const { cookie, person } = await cookieOf(probes, 'ada', 'viewer');
  const other = bearer(await probes.issuer.token({ aud: MACHINE, sub: 'bea', org_id: 'other' }));
  const both = await probes.ask('GET', '/api/viewer', { ...cookie, ...other });
  assert.notEqual(both.body.userId, person.userId);
  assert.equal((await probes.ask('GET', '/api/viewer', { ...cookie, authorization: 'Bearer x' })).status, 401);
  assert.equal((await probes.ask('GET', '/api/viewer', { ...cookie, authorization: '' })).status, 401);
});

test('a session that ends and a role that changes count at once when their events come', async () => {
  await using probes = await probeFixture();
  const { accounts } = probes.people;
  const { cookie, person, sha256 } = await cookieOf(probes, 'ada', 'admin');
  const token = bearer(await probes.issuer.token({ aud: MACHINE, sub: 'ada' }));
  const statuses = async () =>
    Promise.all([cookie, token].map(async (headers) => (await probes.ask('GET', '/api/admin', headers)).status));
  assert.deepEqual(await statuses(), [200, 200]);
  person.role = 'viewer';
  assert.deepEqual(await statuses(), [200, 200], 'no event has come yet');
  accounts.onChanged(change('member', person.orgId, newId('usr')));
  assert.deepEqual(await statuses(), [200, 200], 'somebody else');
  accounts.onChanged(change('member', person.orgId, person.userId));
  assert.deepEqual(await statuses(), [403, 403]);

  probes.registry.accounts.sessions.delete(sha256);
  assert.equal((await statuses())[0], 403, 'no event has come yet');
  accounts.onChanged(change('session', person.orgId, person.userId, sha256));
  assert.deepEqual(await statuses(), [401, 403]);
});

test('while the registry is unavailable known callers keep working, unknown ones get 503', async () => {
  await using probes = await probeFixture();
  const { cookie } = await cookieOf(probes, 'ada', 'admin');
  assert.equal((await probes.ask('GET', '/api/viewer', cookie)).status, 200);
  probes.registry.away = true;
  probes.people.accounts.onEventsMissed();
  assert.equal((await probes.ask('GET', '/api/viewer', cookie)).status, 200);
  const stranger = { cookie: `workflow_session=${newOpaqueToken()}` };
  const { status, body } = await probes.ask('GET', '/api/viewer', stranger);
  assert.deepEqual([status, body.error], [503, 'unavailable']);
});

test('a cookie of another form is never looked up', async () => {
  await using probes = await probeFixture();
  for (const value of ['', 'x', 'x'.repeat(44), `${'x'.repeat(42)}%00`, `${'x'.repeat(42)}=`, 'x'.repeat(5_000)]) {
    assert.equal((await probes.ask('GET', '/api/viewer', { cookie: `workflow_session=${value}` })).status, 401);
  }
  assert.equal(probes.registry.count('resolveSession'), 0);
});

test('an upload token opens its own upload and no other', async () => {
  await using probes = await probeFixture();
  const [own, other, token, orgId] = [newId('upl'), newId('upl'), newOpaqueToken(), newId('org')];
  const known = createHash('sha256').update(token).digest('hex');
  probes.registry.uploadService.answer({
    resolveUploadToken: ({ tokenSha256 }) => {
      if (Buffer.from(tokenSha256).toString('hex') !== known) throw new ServiceError('unauthorized');
      return { upload: { uploadId: own, orgId } };
    },
  });
  const ask = (id: string, authorization: string) =>
    probes.ask('GET', `/api/workflow-uploads/${id}/content`, { authorization });
  const { status, body } = await ask(own, `workflowupload ${token}`);
  assert.deepEqual([status, body], [200, { kind: 'upload', orgId, uploadId: own }]);
  for (const [id, authorization] of [
    [other, `WorkflowUpload ${token}`],
    [own, `WorkflowUpload ${newOpaqueToken()}`],
    [own, `Bearer ${token}`],
    [own, 'WorkflowUpload x'],
  ] as const) {
    const reply = await ask(id, authorization);
    assert.deepEqual([reply.status, reply.body], [401, { error: 'unauthorized' }]);
  }
});

test('the log records the caller and the reason of a refusal, never the credential', async () => {
  await using probes = await probeFixture();
  const { cookie, person } = await cookieOf(probes, 'ada', 'admin');
  const token = await probes.issuer.token({ aud: MACHINE });
  await probes.ask('GET', '/api/viewer', cookie);
  const record = probes.log.at(-1);
  assert.deepEqual([record?.org_id, record?.user_id, record?.credential], [person.orgId, person.userId, 'session']);
  await probes.ask('POST', '/api/viewer', cookie);
  assert.deepEqual([probes.log.at(-1)?.status, probes.log.at(-1)?.refusal], [403, 'foreign_origin']);
  await probes.ask('GET', '/api/cli/viewer', bearer(`${token}x`));
  await probes.ask('GET', '/api/viewer');
  assert.equal(probes.log.at(-1)?.refusal, 'no_credential');
  const text = JSON.stringify(probes.log);
  assert.ok(!text.includes(token) && !text.includes(cookie.cookie.split('workflow_session=')[1] ?? '?'));
});

test('a route without declared access, or in the wrong scope, is not registered', async () => {
  const largeBodies = new LargeBodies(new LongWork(systemClock));
  const findCaller = () => assert.fail('no caller asks');
  const scope = {
    findCaller,
    turns: new OrganizationTurns(systemClock),
    limit: null,
    refusedCredentials: null,
    largeBodies,
    unreadReplies: new UnreadReplies(systemClock),
    mcpUrl: null,
  };
  const register = async (surface: 'api' | 'cli' | 'service', url: string, config?: object) => {
    const app = Fastify({ exposeHeadRoutes: false });
    addCallerFields(app);
    addRouteTable(app);
    await addCallerScope(app, surface, scope, (routes) => routes.get(url, { config: config ?? {} }, async () => null));
    await app.ready();
    return app.routeTable();
  };
  assert.deepEqual(await register('api', '/api/x', { access: 'viewer' }), [
    { method: 'GET', url: '/api/x', surface: 'api', access: 'viewer' },
  ]);
  await assert.rejects(register('api', '/api/x'), /does not declare who may use it/);
  await assert.rejects(register('api', '/api/cli/x', { access: 'viewer' }), /not a path of the surface/);
  await assert.rejects(register('cli', '/v1/x', { access: 'viewer' }), /not a path of the surface/);

  const bare = Fastify();
  addCallerFields(bare);
  addRouteTable(bare);
  bare.get('/api/x', async () => null);
  await assert.rejects(async () => bare.ready(), /is in no scope with callers/);
});
