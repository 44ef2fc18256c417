import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { newMethodId, type VersionId } from '@methods/base/ids';
import { type ApiReply, assertRefused, GREETING } from '../../testing/api.fixture.ts';
import { fileApi } from '../../testing/file-api.fixture.ts';

const { running, member, viewer, stranger } = fileApi();

function create(body: object, as = member): Promise<ApiReply> {
  return as('POST', '/api/methods', { idempotency_key: randomUUID(), ...body });
}

async function created(source = GREETING): Promise<{ id: string; versionId: VersionId }> {
  const { status, body } = await create({ source });
  assert.equal(status, 201, JSON.stringify(body));
  return { id: body.method.id, versionId: body.method.current_version };
}

test('a version has its inputs, result, questions and requirements', async () => {
  const { id, versionId } = await created();
  const { status, body } = await viewer('GET', `/api/methods/wf_${id}/versions/${versionId}`);
  assert.equal(status, 200);
  assert.equal(body.method_id, id);
  assert.deepEqual(Object.keys(body.inputs.properties), ['name']);
  assert.deepEqual(Object.keys(body.result_schema.properties), ['text']);
  assert.deepEqual(
    body.questions.map(({ step, timeout_ms }: { step: string; timeout_ms: number }) => [step, timeout_ms]),
    [['review/approve', 3 * 24 * 3_600_000]],
  );
  assert.deepEqual(body.questions[0].form.required, ['ok']);
  assert.deepEqual(body.secrets, ['SHOP_TOKEN']);
  assert.deepEqual(body.dependencies.npm, [{ name: 'lodash', version: '4.17.21' }]);
  assert.ok(body.features.includes('ask'));
  assert.deepEqual([body.lock_sha256, body.published_at, body.published_by, body.reason], [null, null, null, '']);
  assert.equal(body.created_by.kind, 'user');
});

test('a publication records who and when, and a foreign or unknown version is not found', async () => {
  const { id, versionId } = await created();
  const path = `/api/methods/${id}/publish`;
  const { status, body } = await member('POST', path, { version_id: versionId });
  assert.deepEqual([status, body.published_version], [200, versionId]);
  const { body: version } = await viewer('GET', `/api/methods/${id}/versions/${versionId}`);
  assert.ok(Date.parse(version.published_at) > 0);
  assert.equal(version.published_by.id, version.created_by.id);
  const other = await created();
  assertRefused(await member('POST', path, { version_id: other.versionId }), 404, 'not_found');
  assertRefused(await member('POST', path, { version_id: 'ver_1' }), 404, 'not_found');
  assertRefused(await member('POST', path, {}), 400, 'invalid_request', 'required');
  assertRefused(await viewer('POST', path, { version_id: versionId }), 403, 'forbidden');
});

test('a name and an agent prompt are changed separately, and a method may be only a prompt', async () => {
  const { body } = await create({ agent_prompt: 'Be kind.' });
  const { method } = body;
  assert.deepEqual(
    [method.status, method.current_version, method.available_records],
    ['ready', null, ['agent_prompt']],
  );
  const path = `/api/methods/${method.id}`;
  const renamed = await member('PATCH', path, { display_name: 'Kindness' });
  assert.deepEqual([renamed.status, renamed.body.display_name], [200, 'Kindness']);
  assert.deepEqual((await viewer('GET', `${path}/agent-prompt`)).body, { agent_prompt: 'Be kind.' });
  assert.equal((await member('PATCH', path, { agent_prompt: 'Be brief.\r\n' })).status, 200);
  assert.deepEqual((await viewer('GET', `${path}/agent-prompt`)).body, { agent_prompt: 'Be brief.\r\n' });
  assert.deepEqual((await member('PATCH', path, { agent_prompt: '' })).body.available_records, []);
  assert.deepEqual((await viewer('GET', `${path}/agent-prompt`)).body, { agent_prompt: null });
  assertRefused(await member('PATCH', path, {}), 400, 'invalid_request');
  assertRefused(await member('PATCH', path, { name: 'x' }), 400, 'invalid_request', 'unknown_field');
  assertRefused(
    await member('PATCH', path, { display_name: 'x'.repeat(10_000) }),
    400,
    'invalid_request',
    'display_name_length',
  );
  assertRefused(await viewer('PATCH', path, { display_name: 'x' }), 403, 'forbidden');
  assert.equal((await viewer('GET', path)).body.display_name, 'Kindness');
});

test('only a failed build is tried again', async () => {
  const { id } = await created();
  assertRefused(await member('POST', `/api/methods/${id}/retry`), 409, 'not_failed');
  assertRefused(await member('POST', `/api/methods/${id}/retry`, { key: 'x' }), 400, 'invalid_request');
});

test('a validation returns the findings of a save and saves nothing', async () => {
  const before = (await viewer('GET', '/api/methods?limit=1')).body.items[0].id;
  assert.deepEqual((await viewer('POST', '/api/methods/validate', { source: GREETING })).body, {
    ok: true,
    diagnostics: [],
  });
  const wrong = await viewer('POST', '/api/methods/validate', { source: 'format: method/2\n' });
  assert.deepEqual([wrong.status, wrong.body.ok], [200, false]);
  assert.ok(
    wrong.body.diagnostics.every(
      ({ line, code }: { line: number; code: string }) => line >= 1 && /^M\d{3}$/.test(code),
    ),
  );
  const large = await viewer('POST', '/api/methods/validate', { source: `# ${'x'.repeat(256 * 1024)}` });
  assert.deepEqual([large.status, large.body.diagnostics[0].code], [200, 'M002']);
  const historical = await viewer('POST', '/api/methods/validate', { source: 'format: workflow/1\nworkflow: Old\n' });
  assert.deepEqual([historical.body.ok, historical.body.diagnostics[0].code], [true, 'U000']);
  assert.equal((await viewer('GET', '/api/methods?limit=1')).body.items[0].id, before);
});

test('lists begin with the newest, page by page, and search in names', async () => {
  const asking = await running().person('member', 'listing');
  const ids: string[] = [];
  for (const name of ['Alpha', 'Beta', 'Alphabet']) {
    ids.unshift((await create({ source: GREETING, display_name: name }, asking)).body.method.id);
  }
  const pages: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body }: ApiReply = await asking('GET', `/api/methods?limit=2${cursor && `&cursor=${cursor}`}`);
    pages.push(...body.items.map(({ id }: { id: string }) => id));
    cursor = body.next_cursor;
  }
  assert.deepEqual(pages, ids);
  const found = await asking('GET', '/api/methods?q=alpha');
  assert.deepEqual(
    found.body.items.map(({ display_name }: { display_name: string }) => display_name),
    ['Alphabet', 'Alpha'],
  );
  for (const query of [
    'limit=0',
    'limit=201',
    'limit=x',
    'limit=1&limit=2',
    'cursor=x',
    'page=2',
    `q=${'x'.repeat(201)}`,
  ]) {
    assertRefused(await asking('GET', `/api/methods?${query}`), 400, 'invalid_request');
  }
  const unstorable = await asking('GET', '/api/methods?q=a%00');
  assertRefused(unstorable, 400, 'invalid_request', 'pattern');
  assert.equal(unstorable.body.details[0].path, '/q');
});

test('the earlier name carries the earlier fields as well', async () => {
  const key = randomUUID();
  const made = await member('POST', '/api/workflows', { idempotency_key: key, source: GREETING });
  assert.deepEqual([made.status, made.body.workflow], [201, made.body.method]);
  const { id, current_version: versionId } = made.body.method;
  assert.equal((await member('POST', '/api/methods', { idempotency_key: key })).body.method.id, id);
  const { body: version } = await viewer('GET', `/api/workflows/${id}/versions/${versionId}`);
  assert.deepEqual([version.workflow_id, version.method_id, version.source], [id, id, GREETING]);
  assert.equal((await viewer('GET', `/api/workflows/${id}/versions`)).body.items[0].workflow_id, id);
  assert.equal((await viewer('GET', `/api/methods/${id}/versions`)).body.items[0].workflow_id, undefined);
  assert.deepEqual((await viewer('GET', `/api/workflows/${id}`)).body, made.body.method);
  for (const [method, path, body, status] of [
    ['GET', '/api/workflows', undefined, 200],
    ['PATCH', `/api/workflows/${id}`, { display_name: 'New' }, 200],
    ['GET', `/api/workflows/${id}/agent-prompt`, undefined, 200],
    ['POST', `/api/workflows/${id}/publish`, { version_id: versionId }, 200],
    ['POST', `/api/workflows/${id}/retry`, undefined, 409],
    ['POST', '/api/workflows/validate', { source: GREETING }, 200],
  ] as const) {
    assert.equal((await member(method, path, body)).status, status, path);
  }
});

test("another organization's method, a missing one and a malformed id get the same reply", async () => {
  const { id, versionId } = await created();
  const calls: [string, (id: string) => string, object?][] = [
    ['GET', (id) => `/api/methods/${id}`],
    ['GET', (id) => `/api/methods/${id}/agent-prompt`],
    ['GET', (id) => `/api/methods/${id}/versions`],
    ['GET', (id) => `/api/methods/${id}/versions/${versionId}`],
    ['PATCH', (id) => `/api/methods/${id}`, { display_name: 'Mine' }],
    ['POST', (id) => `/api/methods/${id}/publish`, { version_id: versionId }],
    ['POST', (id) => `/api/methods/${id}/retry`],
  ];
  for (const [method, path, body] of calls) {
    const replies = await Promise.all(
      [id, newMethodId(), 'malformed', `wf_wf_${id}`].map((each) => stranger(method, path(each), body)),
    );
    for (const reply of replies) assertRefused(reply, 404, 'not_found');
    assert.equal(new Set(replies.map((reply) => reply.body.message)).size, 1, `${method} ${path(id)}`);
  }
  const { body } = await viewer('GET', `/api/methods/${id}`);
  assert.deepEqual([body.display_name, body.published_version], ['Greet somebody', null]);
});

test('every change is in the audit log with its actor and request', async () => {
  const asking = await running().person('admin', 'audited');
  const { body } = await create({ source: GREETING }, asking);
  await asking(
    'POST',
    `/api/methods/${body.method.id}/publish`,
    { version_id: body.method.current_version },
    { 'x-request-id': 'publish-7' },
  );
  const [entry] = await running().registry.sql`
    select doer_id, request_id, ip from registry.audit
    where target_id in (${body.method.id}, ${body.method.current_version}) and action like '%publish%'`;
  assert.deepEqual([entry?.doer_id, entry?.request_id], [body.method.created_by.id, 'publish-7']);
  assert.ok(entry?.ip);
});
