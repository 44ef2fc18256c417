import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { newId } from '@methods/base/ids';
import { until } from '@methods/test/harness/until';
import fc from 'fast-check';
import { type ApiReply, assertRefused, GREETING } from '../../testing/api.fixture.ts';
import { fileApi } from '../../testing/file-api.fixture.ts';

const { running, member, viewer, stranger } = fileApi();

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

function create(body: object, as = member): Promise<ApiReply> {
  return as('POST', '/api/methods', { idempotency_key: randomUUID(), ...body });
}

test('a source creates a method once for each key, for any number of repeats', async () => {
  const key = `create-${randomUUID()}`;
  const first = await member('POST', '/api/methods', { idempotency_key: key, source: GREETING, display_name: 'Grüße' });
  assert.equal(first.status, 201);
  const { method } = first.body;
  assert.deepEqual(Object.keys(first.body).sort(), ['created', 'method', 'warnings']);
  assert.deepEqual(
    {
      ...method,
      id: '',
      current_version: '',
      created_at: '',
      updated_at: '',
      created_by: { ...method.created_by, id: '' },
    },
    {
      id: '',
      production_id: `wf_${method.id}`,
      display_name: 'Grüße',
      status: 'ready',
      format: 'method/2',
      current_version: '',
      published_version: null,
      available_records: ['source'],
      build: null,
      offered_to_agents: false,
      created_at: '',
      updated_at: '',
      created_by: { kind: 'user', id: '', name: method.created_by.name },
    },
  );
  assert.match(method.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  for (const body of [
    { source: GREETING },
    { source: 'not a method' },
    { source: 'x'.repeat(300 * 1024) },
    { agent_prompt: 'Do it.' },
    { upload_id: newId('upl') },
    {},
    { source: GREETING, upload_id: 'x' },
  ]) {
    const again = await member('POST', '/api/methods', { idempotency_key: key, ...body });
    assert.deepEqual([again.status, again.body.created, again.body.method.id], [200, false, method.id]);
  }
});

test('of 100 simultaneous creations with one key one creates the method and all get it', async () => {
  const body = { idempotency_key: `rush-${randomUUID()}`, source: GREETING };
  let unavailable = 0;
  // A busy machine may miss the calls' deadlines. Clients then repeat the request with its key.
  const served = () =>
    until('the creation has a reply', async () => {
      const reply = await member('POST', '/api/methods', body);
      if (reply.status === 503) unavailable++;
      return reply.status !== 503 && reply;
    });
  const replies = await Promise.all(Array.from({ length: 100 }, served));
  assert.equal(new Set(replies.map(({ body }) => body.method.id)).size, 1);
  const count = (reply: string) => replies.filter(({ status, body }) => `${status} ${body.created}` === reply).length;
  const made = count('201 true');
  // The reply of the creation itself may be one of those that came too late.
  assert.ok(made === 1 || (made === 0 && unavailable > 0), `${made} creations made a method`);
  assert.equal(made + count('200 false'), 100);
});

test('what a key created can be found by its hash, only by its own organization', async () => {
  const key = `gr\u00fc\u00dfe-${randomUUID()}`;
  const path = `/api/workflow-creation-requests/${sha256(key)}`;
  assert.deepEqual((await viewer('GET', path)).body, { found: false, method: null });
  const { body } = await member('POST', '/api/methods', { idempotency_key: key, source: GREETING });
  assert.deepEqual((await viewer('GET', path)).body, { found: true, method: body.method });
  assert.deepEqual((await stranger('GET', path)).body, { found: false, method: null });
  assertRefused(await viewer('GET', `/api/workflow-creation-requests/${key}`), 400, 'invalid_request', 'sha256');
  assertRefused(
    await viewer(
      'GET',
      path.toUpperCase().replace('/API/WORKFLOW-CREATION-REQUESTS', '/api/workflow-creation-requests'),
    ),
    400,
    'invalid_request',
    'sha256',
  );
});

test('a source is refused with all its faults, and nothing is saved', async () => {
  const key = `wrong-${randomUUID()}`;
  const wrong = await member('POST', '/api/methods', {
    idempotency_key: key,
    source: GREETING.replace('inputs.name', 'inputs.nam'),
  });
  assertRefused(wrong, 422, 'invalid_method');
  const [detail] = wrong.body.details;
  assert.equal(detail.severity, 'error');
  assert.ok(detail.line > 1 && detail.column >= 1 && detail.end_line >= detail.line && detail.end_column >= 1);
  assert.equal((await viewer('GET', `/api/workflow-creation-requests/${sha256(key)}`)).body.found, false);
});

test('a creation holds one kind of content within its bounds', async () => {
  const large = `${GREETING}# ${'x'.repeat(256 * 1024)}\n`;
  assertRefused(await create({}), 400, 'invalid_request', 'one_of');
  assertRefused(await create({ source: GREETING, upload_id: newId('upl') }), 400, 'invalid_request', 'one_of');
  assertRefused(await create({ source: large }), 413, 'too_large', 'source_bytes');
  assertRefused(await create({ source: '' }), 422, 'invalid_method');
  assertRefused(await create({ agent_prompt: 'é'.repeat(33 * 1024) }), 413, 'too_large', 'agent_prompt_bytes');
  assertRefused(
    await create({ source: GREETING, display_name: 'x'.repeat(10_000) }),
    400,
    'invalid_request',
    'display_name_length',
  );
  assertRefused(await create({ source: GREETING, display_name: '' }), 400, 'invalid_request', 'display_name_length');
  assert.equal((await create({ source: GREETING, display_name: '😀'.repeat(200) })).status, 201);
  assertRefused(
    await create({ source: GREETING, idempotency_key: 'x'.repeat(201) }),
    400,
    'invalid_request',
    'idempotency_key_length',
  );
  assertRefused(await create({ source: 5 }), 400, 'invalid_request', 'type');
  const typo = await create({ sources: GREETING });
  assertRefused(typo, 400, 'invalid_request', 'unknown_field');
  assert.match(typo.body.message, /Did you mean "source"\?/);
  assertRefused(await create({ upload_id: 'upl_1' }), 404, 'not_found');
  assertRefused(await create({ source: GREETING }, viewer), 403, 'forbidden');
});

test('text that has no bytes is refused: lone surrogates, and bytes that are not UTF-8', async () => {
  const withSource = (json: string) => `{"idempotency_key":"${randomUUID()}","source":${json}}`;
  assertRefused(
    await member('POST', '/api/methods', withSource('"\\ud800"')),
    400,
    'invalid_request',
    'lone_surrogate',
  );
  const bytes = Buffer.concat([
    Buffer.from(`{"idempotency_key":"${randomUUID()}","source":"`),
    Buffer.from([0xff, 0xfe]),
    Buffer.from('"}'),
  ]);
  const reply = await fetch(`http://127.0.0.1:${running().port}/api/methods`, {
    method: 'POST',
    headers: { authorization: await bearerOf(), 'content-type': 'application/json' },
    body: bytes,
  });
  assert.deepEqual([reply.status, ((await reply.json()) as { error: string }).error], [400, 'invalid_request']);
});

async function bearerOf(): Promise<string> {
  return `Bearer ${await running().issuer.token({ aud: 'http://127.0.0.1:8080/api', org_id: 'acme', sub: 'acme-member', role: 'member' })}`;
}

test('the largest source fits into a request although JSON escapes triple it', async () => {
  const filler = 'é'.repeat((256 * 1024 - Buffer.byteLength(GREETING) - 2) / 2);
  const source = `${GREETING}# ${filler}`;
  assert.ok(256 * 1024 - Buffer.byteLength(source) < 2);
  const json = JSON.stringify({ idempotency_key: randomUUID(), source }).replaceAll('é', '\\u00e9');
  const { status, body } = await member('POST', '/api/methods', json);
  assert.equal(status, 201, JSON.stringify(body));
  const { body: version } = await viewer(
    'GET',
    `/api/methods/${body.method.id}/versions/${body.method.current_version}`,
  );
  assert.ok(version.source === source);
});

test('bytes are returned as they were sent, for any UTF-8', async () => {
  const line = fc
    .string({ unit: 'binary', maxLength: 60 })
    .map((text) => text.replaceAll(/[\p{Cc}\p{Surrogate}\u2028\u2029]/gu, ''));
  const ending = fc.constantFrom('\n', '\r\n');
  await fc.assert(
    fc.asyncProperty(fc.boolean(), ending, fc.array(line, { maxLength: 4 }), async (mark, eol, comments) => {
      const more = ['# a\u0308 is not \u00e4', ...comments.map((text) => `# ${text}`)];
      const source = (mark ? '\ufeff' : '') + [...GREETING.split('\n'), ...more].join(eol);
      const { body } = await create({ source });
      assert.ok(body.method, JSON.stringify(body));
      const { body: version } = await viewer(
        'GET',
        `/api/methods/${body.method.id}/versions/${body.method.current_version}`,
      );
      assert.equal(version.source, source);
      assert.equal(version.sha256, sha256(source));
    }),
    { numRuns: 25 },
  );
});

test('a workflow/1 source is saved with a warning and shown without an interface', async () => {
  const { status, body } = await create({ source: 'format: workflow/1\nworkflow: Old one\n' });
  assert.deepEqual([status, body.warnings[0].code, body.method.format], [201, 'U000', 'workflow/1']);
  const { body: version } = await viewer(
    'GET',
    `/api/methods/${body.method.id}/versions/${body.method.current_version}`,
  );
  assert.deepEqual([version.schema_version, version.inputs], ['workflow/1', undefined]);
});
