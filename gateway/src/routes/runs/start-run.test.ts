import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, systemClock } from '@methods/base/clock';
import { newId } from '@methods/base/ids';
import { Answerer, RunStatus } from '@methods/proto/run/v1/run_pb';
import { COMPILING_REST_MS } from '../../plugins/route-schemas.ts';
import { gatewayFixture } from '../../testing/gateway.fixture.ts';

test('a start is stored with defaults filled in, and the reply is queued', async () => {
  await using gateway = await gatewayFixture();
  const { status, body, headers } = await gateway.ask('POST', '/v1/runs', {
    method: `wf_${gateway.methodId}`,
    inputs: { name: 'Ada' },
    metadata: { order: '7' },
  });
  assert.equal(status, 201);
  const [start] = gateway.book.starts;
  assert.deepEqual(body, { run_id: [...gateway.book.runs.keys()][0], version_id: gateway.versionId, status: 'queued' });
  assert.equal(headers.get('idempotent-replayed'), null);
  assert.match(headers.get('content-type') ?? '', /^application\/json/);
  assert.equal(start?.inputsJson, '{"name":"Ada","times":1}');
  assert.equal(start?.method, `wf_${gateway.methodId}`);
  assert.equal(start?.answerBy, Answerer.TEAM);
  assert.deepEqual({ ...start?.metadata }, { order: '7' });
  assert.equal(start?.idempotencyHash.length, 32);
  assert.equal(start?.requestDigest.length, 0);
});

test('accepts a bare method id, a named version and a webhook', async () => {
  await using gateway = await gatewayFixture();
  const { status } = await gateway.ask('POST', '/v1/runs', {
    method: gateway.methodId,
    version: gateway.versionId,
    inputs: { name: 'Ada', times: 2 },
    webhook_url: 'https://example.com/hook',
    run_data: 'account',
  });
  assert.equal(status, 201);
  assert.equal(gateway.book.starts[0]?.answerBy, Answerer.APPLICATION);
  assert.equal(gateway.book.starts[0]?.webhookUrl, 'https://example.com/hook');
});

test('the same key and values return the same run with its present status, other values a conflict', async () => {
  await using gateway = await gatewayFixture();
  const start = { method: gateway.methodId, inputs: { name: 'Ada' }, idempotency_key: 'order-0001' };
  const first = await gateway.ask('POST', '/v1/runs', start);
  gateway.book.change(first.body.run_id, { status: RunStatus.RUNNING });
  const again = await gateway.ask('POST', '/v1/runs', { ...start, version: 'published', metadata: {} });
  assert.equal(again.status, 200);
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  assert.deepEqual(again.body, { ...first.body, status: 'running' });
  const other = await gateway.ask('POST', '/v1/runs', { ...start, inputs: { name: 'Bob' } });
  assert.equal(other.status, 409);
  assert.equal(other.body.error, 'idempotency_conflict');
  assert.equal(gateway.book.runs.size, 1);
});

test('a key that has a run gets it although the start would be refused today', async () => {
  await using gateway = await gatewayFixture();
  const start = { method: gateway.methodId, inputs: { name: 'Ada' }, idempotency_key: 'order-0002' };
  const first = await gateway.ask('POST', '/v1/runs', start);
  gateway.registry.publish(gateway.methodId, 'old', 'workflow/1');
  gateway.registryClient.onEventsMissed();
  const again = await gateway.ask('POST', '/v1/runs', start);
  assert.equal(again.status, 200);
  assert.equal(again.body.run_id, first.body.run_id);
  const unkeyed = await gateway.ask('POST', '/v1/runs', { ...start, idempotency_key: undefined });
  assert.equal(unkeyed.body.error, 'needs_upgrade');
  const otherKey = await gateway.ask('POST', '/v1/runs', { ...start, idempotency_key: 'order-0003' });
  assert.equal(otherKey.body.error, 'needs_upgrade');
  const otherValues = await gateway.ask('POST', '/v1/runs', { ...start, inputs: { name: 7 } });
  assert.equal(otherValues.body.error, 'idempotency_conflict');
});

test('a repeat with a key works while the registry is unavailable', async () => {
  await using gateway = await gatewayFixture();
  const start = { method: gateway.methodId, inputs: { name: 'Ada' }, idempotency_key: 'order-0004' };
  const first = await gateway.ask('POST', '/v1/runs', start);
  gateway.registry.away = true;
  gateway.registryClient.onEventsMissed();
  assert.equal((await gateway.ask('POST', '/v1/runs', start)).body.run_id, first.body.run_id);
  assert.equal((await gateway.ask('POST', '/v1/runs', { ...start, idempotency_key: 'order-0005' })).status, 201);
});

test('refuses invalid starts, each by its code', async () => {
  await using gateway = await gatewayFixture();
  const { methodId: unpublished } = gateway.registry.method(gateway.orgId, null);
  const { methodId: foreign } = gateway.registry.method(newId('org'), 'source');
  const start = { method: gateway.methodId, inputs: { name: 'Ada' } };
  const cases: [object, number, string][] = [
    [{ ...start, method: unpublished }, 409, 'not_published'],
    [{ ...start, method: foreign }, 404, 'not_found'],
    [{ ...start, method: 'wf_nothing' }, 404, 'not_found'],
    [{ ...start, version: newId('ver') }, 404, 'not_found'],
    [{ ...start, version: 'latest' }, 404, 'not_found'],
    [{ ...start, webhook_url: 'http://example.com' }, 422, 'invalid_webhook_url'],
    [{ ...start, webhook_url: `https://example.com/${'x'.repeat(2048)}` }, 400, 'invalid_request'],
    [{ ...start, webhook_url: '' }, 422, 'invalid_webhook_url'],
    [{ ...start, inputs: { name: 'x'.repeat(256 * 1024) } }, 413, 'too_large'],
  ];
  for (const [body, status, code] of cases) {
    const reply = await gateway.ask('POST', '/v1/runs', body);
    assert.deepEqual([reply.status, reply.body.error], [status, code]);
    assert.equal(reply.body.request_id, reply.headers.get('x-request-id'));
  }
  assert.equal(gateway.book.runs.size, 0);
});

const LINES = (note: number) => `format: method/2
name: lines
types:
  Line: { id: string, note: 'string = ${'n'.repeat(note)}' }
inputs: { lines: list<Line> }
steps:
  - name: one
    node: return {};
`;

test('inputs that are small as sent and too large with their defaults are refused, and never written out', async () => {
  await using gateway = await gatewayFixture();
  for (const [note, ids] of [
    [1_000, 300],
    [200, 15_000],
  ] as const) {
    const { methodId } = gateway.registry.method(gateway.orgId, LINES(note));
    const inputs = { lines: Array.from({ length: ids }, (_, n) => ({ id: String(n) })) };
    const { status, body } = await gateway.ask('POST', '/v1/runs', { method: methodId, inputs });
    assert.deepEqual([status, body.error, body.details[0].code], [413, 'too_large', 'inputs_bytes']);
    assert.match(body.details[0].message, /262144 bytes, with their defaults/);
  }
  const { methodId } = gateway.registry.method(gateway.orgId, LINES(1_000));
  const inputs = { lines: Array.from({ length: 200 }, (_, n) => ({ id: String(n) })) };
  assert.equal((await gateway.ask('POST', '/v1/runs', { method: methodId, inputs })).status, 201);
  assert.equal(gateway.book.starts.length, 1);
});

test('inputs that cost too much to check are refused with a finding, and delay no other request', async () => {
  await using gateway = await gatewayFixture();
  const branches = Array.from({ length: 400 }, (_, n) => `{ const: ${-n - 1} }`).join(', ');
  const { methodId } = gateway.registry.method(
    gateway.orgId,
    `format: method/2
name: costly
inputs:
  list: { $schema: { type: array, items: { anyOf: [${branches}, { type: integer }] } } }
steps:
  - name: one
    node: return {};
`,
  );
  const start = { method: methodId, inputs: { list: Array.from({ length: 100_000 }, (_, n) => n % 10) } };
  await gateway.ask('POST', '/v1/runs', start);
  let leastMs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 10 && leastMs >= 1_000; round++) {
    const before = performance.eventLoopUtilization();
    const { status, body } = await gateway.ask('POST', '/v1/runs', start);
    leastMs = Math.min(leastMs, performance.eventLoopUtilization(before).active);
    assert.deepEqual([status, body.error, body.details[0].code], [422, 'invalid_inputs', 'too_costly']);
  }
  assert.ok(leastMs < 2_000, `held the event loop for ${leastMs} ms`);
});

test('the check of large inputs waits for its turn, and the event loop rests after it as after their parsing', async () => {
  const delays: number[] = [];
  const clock: Clock = {
    ...systemClock,
    after(ms, run) {
      delays.push(ms);
      return systemClock.after(ms, run);
    },
  };
  await using gateway = await gatewayFixture({ clock });
  const restsOf = async (name: string) => {
    delays.length = 0;
    const { status } = await gateway.ask('POST', '/v1/runs', { method: gateway.methodId, inputs: { name } });
    assert.equal(status, 201);
    // The schemas of the routes may still be compiling, with a rest after each.
    return delays.filter((ms) => ms <= 200 && ms !== COMPILING_REST_MS).length;
  };
  assert.deepEqual([await restsOf('x'.repeat(100_000)), await restsOf('Ada')], [2, 0]);
});

test('inputs that take more than a turn to check are checked on a thread, and accepted', async () => {
  await using gateway = await gatewayFixture();
  const source = `format: method/2
name: texts
inputs:
  texts: list<string /^[a-z0-9]{1,100}$/>
  note: string = none
steps:
  - name: one
    node: return {};
`;
  const { methodId } = gateway.registry.method(gateway.orgId, source);
  const texts = Array.from({ length: 10_000 }, (_, n) => `text${n}`);
  assert.equal((await gateway.ask('POST', '/v1/runs', { method: methodId, inputs: { texts } })).status, 201);
  assert.deepEqual(JSON.parse(gateway.book.starts[0]?.inputsJson ?? ''), { texts, note: 'none' });
});

test('names inputs of a wrong type by JSON Pointer', async () => {
  await using gateway = await gatewayFixture();
  const { status, body } = await gateway.ask('POST', '/v1/runs', {
    method: gateway.methodId,
    inputs: { name: 5, nam: 'x' },
  });
  assert.equal(status, 422);
  assert.equal(body.error, 'invalid_inputs');
  assert.ok(body.details.some(({ path }: { path: string }) => path === '/name'));
  assert.ok(body.details.every(({ code, message }: { code: string; message: string }) => code && message));
});

test('omitted inputs are an empty object', async () => {
  await using gateway = await gatewayFixture();
  const { status, body } = await gateway.ask('POST', '/v1/runs', { method: gateway.methodId });
  assert.equal(status, 422);
  assert.equal(body.error, 'invalid_inputs');
});

test('with wait_ms the reply is the run as it finishes', async () => {
  await using gateway = await gatewayFixture();
  const [node] = gateway.nodes;
  assert.ok(node);
  node.onStarted = (run) => {
    setImmediate(() => node.push(gateway.book.succeed(run.runId, '{"text":"Hello \\u00e4"}')));
  };
  const { status, body } = await gateway.ask('POST', '/v1/runs?wait_ms=30000', {
    method: gateway.methodId,
    inputs: { name: 'Ada' },
  });
  assert.equal(status, 201);
  assert.equal(body.status, 'succeeded');
  assert.deepEqual(body.result, { text: 'Hello ä' });
  assert.equal(body.steps.length, 2);
  assert.equal(node.count('get'), 0);
});

test('a push that arrives before the reply of its start ends the wait too', async () => {
  await using gateway = await gatewayFixture();
  const [node] = gateway.nodes;
  assert.ok(node);
  // In the same turn: reply and push are in one frame.
  node.onStarted = (run) => node.push(gateway.book.ask(run.runId));
  const { body } = await gateway.ask('POST', '/v1/runs?wait_ms=30000', {
    method: gateway.methodId,
    inputs: { name: 'Ada' },
  });
  assert.equal(body.status, 'waiting');
  assert.equal(body.question.prompt, 'Send it?');
  assert.deepEqual(body.question.show, [{ path: 'steps.total.sum', value: 42 }]);
});

test('a wait longer than a minute is refused, and one whose time is up returns the present run', async () => {
  await using gateway = await gatewayFixture();
  const start = { method: gateway.methodId, inputs: { name: 'Ada' } };
  const tooLong = await gateway.ask('POST', '/v1/runs?wait_ms=60001', start);
  assert.equal(tooLong.status, 400);
  assert.equal(tooLong.body.details[0].code, 'wait_ms');
  assert.equal((await gateway.ask('POST', '/v1/runs?wait_ms=soon', start)).status, 400);
  assert.equal((await gateway.ask('POST', '/v1/runs?wait_ms=-1', start)).status, 400);
  const [node] = gateway.nodes;
  assert.ok(node);
  node.onStarted = (run) => gateway.book.change(run.runId, { status: RunStatus.RUNNING, attempts: 1 });
  const { status, body } = await gateway.ask('POST', '/v1/runs?wait_ms=20', start);
  assert.equal(status, 201);
  assert.equal(body.status, 'running');
});

test("inputs that do not meet the method's own require are refused with the check's sentence, and start no run", async () => {
  await using gateway = await gatewayFixture();
  const source = `format: method/2
name: pay
inputs: { amount: number, limit: number = 10 }
require:
  - The amount is within the limit: inputs.amount <= inputs.limit
  - { name: The amount is small, that: inputs.amount < 5, level: warn }
steps:
  - name: pay
    python: print("paid")
`;
  const { methodId } = gateway.registry.method(gateway.orgId, source);
  const start = (amount: number) => gateway.ask('POST', '/v1/runs', { method: methodId, inputs: { amount } });
  const refused = await start(11);
  assert.equal(refused.status, 422);
  assert.equal(refused.body.error, 'invalid_inputs');
  assert.deepEqual(refused.body.details, [
    { path: '', code: 'check_failed', message: 'The amount is within the limit' },
  ]);
  assert.equal(gateway.book.runs.size, 0);
  assert.equal((await start(10)).status, 201, 'a warning refuses nothing');
  assert.deepEqual(gateway.book.starts[0]?.needs, ['python'], 'the worker must have python');
});

test('a file is named by its id; an object with a path is refused at any depth', async () => {
  await using gateway = await gatewayFixture();
  const source = `format: method/2
name: files
types: { Named: { deep: list<file> } }
inputs: { a?: file, list?: list<file>, inner?: { f: file }, map?: map<file>, named?: Named, none?: 'file | null', any?: any }
steps:
  - name: one
    python: print("paid")
`;
  const { methodId } = gateway.registry.method(gateway.orgId, source);
  const start = (inputs: object) => gateway.ask('POST', '/v1/runs', { method: methodId, inputs });
  const path = { path: '/etc/passwd', bytes: 1, sha256: 'a'.repeat(64), media_type: 'text/plain' };
  const id = newId('file');
  for (const file of [
    path,
    { ...path, file_id: id },
    { file_id: id, path: 'steps/a/files/b' },
    { $file: 'x' },
    id,
    7,
  ]) {
    const shapes = [{ a: file }, { list: [file] }, { inner: { f: file } }, { map: { x: file } }];
    for (const inputs of [...shapes, { named: { deep: [file] } }, { none: file }]) {
      const { status, body } = await start(inputs);
      assert.deepEqual([status, body.error], [422, 'invalid_inputs'], JSON.stringify(inputs));
    }
  }
  assert.equal(gateway.book.starts.length, 0);
  assert.equal((await start({ any: path, none: null })).status, 201, 'what is of no type is data');
});
