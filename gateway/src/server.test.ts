import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { test } from 'node:test';
import { systemClock } from '@methods/base/clock';
import { newRunId } from '@methods/base/ids';
import { routeSchemas } from './plugins/route-schemas.ts';
import { gatewayFixture, until } from './testing/gateway.fixture.ts';

type Gateway = Awaited<ReturnType<typeof gatewayFixture>>;

/** Sends bytes unchanged and returns everything received until the server ends the connection. */
function raw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' });
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk) => {
      text += chunk;
    });
    socket.once('error', reject).once('close', () => resolve(text));
    socket.end(bytes, 'latin1');
  });
}

function request(gateway: Gateway, line: string, ...lines: string[]): string {
  return [line, 'Host: gateway', `Authorization: Bearer ${gateway.apiKey.key}`, ...lines, '', ''].join('\r\n');
}

test('requests that two parsers could read in different ways are refused, each with a documented error', async () => {
  await using gateway = await gatewayFixture();
  const path = `/v1/runs/${newRunId(3)}`;
  const post = 'POST /v1/runs HTTP/1.1';
  const json = 'Content-Type: application/json';
  const get = `GET ${path} HTTP/1.1`;
  const smuggled = `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const corpus: Record<string, string> = {
    'two hosts': request(gateway, get, 'Host: other'),
    'two hosts of the same name': request(gateway, get, 'host: gateway'),
    'two authorizations': request(gateway, get, 'Authorization: Bearer other'),
    'two authorizations in other case': request(gateway, get, 'AUTHORIZATION: Bearer other'),
    'absolute target': request(gateway, `GET http://other${path} HTTP/1.1`),
    'absolute https target': request(gateway, `GET https://other${path} HTTP/1.1`),
    'GET with content-length': `${request(gateway, get, `Content-Length: ${smuggled.length}`)}${smuggled}`,
    'GET with chunks': `${request(gateway, get, 'Transfer-Encoding: chunked')}0\r\n\r\n`,
    'both framings': `${request(gateway, post, json, 'Content-Length: 4', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
    'two content-lengths': `${request(gateway, post, json, 'Content-Length: 2', 'Content-Length: 3')}{}x`,
    'list of content-lengths': `${request(gateway, post, json, 'Content-Length: 2, 3')}{}x`,
    'signed content-length': `${request(gateway, post, json, 'Content-Length: +2')}{}`,
    'hexadecimal content-length': `${request(gateway, post, json, 'Content-Length: 0x2')}{}`,
    'negative content-length': `${request(gateway, post, json, 'Content-Length: -2')}{}`,
    'unknown transfer coding': `${request(gateway, post, json, 'Transfer-Encoding: xchunked')}0\r\n\r\n`,
    'chunked before another coding': `${request(gateway, post, json, 'Transfer-Encoding: chunked, identity')}0\r\n\r\n`,
    'space before a colon': request(gateway, get, 'Content-Length : 0'),
    'folded header': request(gateway, get, 'X-A: 1', ' Transfer-Encoding: chunked'),
    'bare carriage return': request(gateway, get, 'X-A: 1\rX-B: 2'),
    'bare line feeds': `GET ${path} HTTP/1.1\nHost: x\n\n`,
    'NUL in a header': request(gateway, get, 'X-A: 1\0'),
    'bad chunk size': `${request(gateway, post, json, 'Transfer-Encoding: chunked')}zz\r\n{}\r\n0\r\n\r\n`,
    'chunk longer than its size': `${request(gateway, post, json, 'Transfer-Encoding: chunked')}1\r\n{}\r\n0\r\n\r\n`,
    'no host': `GET ${path} HTTP/1.1\r\n\r\n`,
    'unknown version': `GET ${path} HTTP/9.9\r\nHost: x\r\n\r\n`,
    'asterisk target': request(gateway, 'OPTIONS * HTTP/1.1'),
    'space in the target': request(gateway, 'GET /v1/runs /x HTTP/1.1'),
    'huge headers': request(gateway, get, `X-A: ${'a'.repeat(32 * 1024)}`),
    'not HTTP': 'hello\r\n\r\n',
  };
  for (const [name, bytes] of Object.entries(corpus)) {
    const reply = await raw(gateway.port, bytes);
    const [head = '', body = ''] = reply.split('\r\n\r\n');
    assert.match(head, /^HTTP\/1\.1 4(00|31) /, `${name}: ${reply.slice(0, 300)}`);
    assert.equal(reply.match(/HTTP\/1\.1 /g)?.length, 1, `${name}: one answer only`);
    assert.match(head, /\r\nx-request-id: \S+/i, name);
    assert.match(head, /\r\nconnection: close/i, name);
    const { error, request_id } = JSON.parse(body);
    assert.equal(error, 'invalid_request', name);
    assert.ok(request_id, name);
  }
  assert.deepEqual(gateway.nodes[0]?.received, []);
});

test('every unknown route is a documented 404', async () => {
  await using gateway = await gatewayFixture();
  const elsewhere = [
    ['GET', '/'],
    ['GET', '/v1/nothing'],
    ['DELETE', `/v1/runs/${newRunId(3)}`],
    ['POST', '/v1/runs/'],
    ['GET', '/api/nothing'],
    ['GET', '/api/cli/nothing'],
    ['GET', '/V1/RUNS'],
    ['GET', `/v1/runs/${'x'.repeat(3_000)}`],
    ['PUT', '/openapi.json'],
  ] as const;
  for (const [method, path] of elsewhere) {
    const { status, body, headers } = await gateway.ask(method, path);
    assert.deepEqual([status, body.error], [404, 'not_found'], `${method} ${path.slice(0, 40)}`);
    assert.equal(body.request_id, headers.get('x-request-id'));
  }
});

test("a caller's request id is kept when it is visible ASCII, and made otherwise", async () => {
  await using gateway = await gatewayFixture();
  const idOf = async (given: string) =>
    (await gateway.ask('GET', '/healthz', undefined, { 'x-request-id': given })).headers.get('x-request-id');
  assert.equal(await idOf('order-7/try:2'), 'order-7/try:2');
  assert.equal(await idOf('x'.repeat(128)), 'x'.repeat(128));
  const made = await Promise.all(['x'.repeat(129), 'two words', 'ümlaut', ''].map(idOf));
  assert.ok(made.every((id) => /^req_\S+$/.test(id ?? '')));
  assert.equal(new Set(made).size, made.length);
});

test('no browser takes a reply for another type than its own, good or bad', async () => {
  await using gateway = await gatewayFixture();
  for (const path of ['/healthz', '/nowhere', '/openapi.json', '/reference/', '/v1/runs/run_x', '/auth/login']) {
    const { headers } = await fetch(`http://127.0.0.1:${gateway.port}${path}`);
    assert.equal(headers.get('x-content-type-options'), 'nosniff', path);
    assert.ok(headers.get('content-type'), path);
  }
});

test('a body is JSON of at most 1 MiB with nothing the database could not keep', async () => {
  await using gateway = await gatewayFixture();
  const method = JSON.stringify(gateway.methodId);
  const withName = (json: string) => `{"method":${method},"inputs":{"name":${json}}}`;
  const cases: [string, number, string, string?][] = [
    [withName('"ok"'), 201, ''],
    [withName('"x\\u0000"'), 400, 'invalid_request', 'nul'],
    [withName('"\\ud800"'), 400, 'invalid_request', 'lone_surrogate'],
    [withName('9007199254740993'), 400, 'invalid_request', 'number_range'],
    [withName('1e400'), 400, 'invalid_request', 'number_range'],
    [withName('['.repeat(65) + ']'.repeat(65)), 400, 'invalid_request', 'json_depth'],
    [withName('"x'), 400, 'invalid_request'],
    ['', 400, 'invalid_request'],
    ['null', 400, 'invalid_request'],
    ['[]', 400, 'invalid_request'],
    [withName(`"${'x'.repeat(1024 * 1024)}"`), 413, 'too_large', 'body_bytes'],
    [`{"__proto__":{"polluted":1},"method":${method}}`, 400, 'invalid_request', 'unknown_field'],
    [withName('{"__proto__":{"polluted":1}}'), 422, 'invalid_inputs'],
  ];
  for (const [text, status, error, detail] of cases) {
    const reply = await gateway.ask('POST', '/v1/runs', text);
    assert.equal(reply.status, status, text.slice(0, 80));
    if (error) assert.equal(reply.body.error, error);
    if (detail) assert.equal(reply.body.details[0].code, detail);
  }
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
  const form = await gateway.ask('POST', '/v1/runs', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' });
  assert.deepEqual([form.status, form.body.error], [400, 'invalid_request']);
});

test('a body is checked as sent: no coercion, no unknown fields, every bound named', async () => {
  await using gateway = await gatewayFixture();
  const start = { method: gateway.methodId, inputs: { name: 'Ada' } };
  const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));
  const cases: [object, string, RegExp][] = [
    [{ ...start, input: {} }, 'unknown_field', /"input".*Did you mean "inputs"\?/],
    [{ ...start, idempotencyKey: 'order-0001' }, 'unknown_field', /Did you mean "idempotency_key"\?/],
    [{ ...start, run_data: 'phone' }, 'enum', /"run_data" has to be one of account, device/],
    [{ ...start, webhook_url: `https://example.com/${'x'.repeat(2_029)}` }, 'webhook_url_length', /at most 2048/],
    [{ ...start, priority: 1 }, 'unknown_field', /"priority"/],
    [{ inputs: {} }, 'required', /"method" is missing/],
    [{ ...start, method: 5 }, 'type', /"method" has to be a text/],
    [{ ...start, inputs: '{}' }, 'type', /"inputs" has to be an object/],
    [{ ...start, inputs: null }, 'type', /"inputs"/],
    [{ ...start, answer_by: 'me' }, 'enum', /application, team/],
    [{ ...start, idempotency_key: '1234567' }, 'idempotency_key_length', /at least 8/],
    [{ ...start, idempotency_key: 'x'.repeat(201) }, 'idempotency_key_length', /at most 200/],
    [{ ...start, metadata: pairs(33) }, 'metadata_pairs', /at most 32/],
    [{ ...start, metadata: { ['k'.repeat(65)]: 'v' } }, 'metadata_key_length', /at most 64/],
    [{ ...start, metadata: { k: 'v'.repeat(513) } }, 'metadata_value_length', /at most 512/],
    [{ ...start, metadata: { k: 5 } }, 'type', /text/],
    [{ ...start, metadata: JSON.parse('{"__proto__":"x"}') }, 'not', /"metadata"/],
  ];
  for (const [body, code, message] of cases) {
    const reply = await gateway.ask('POST', '/v1/runs', body);
    assert.equal(reply.status, 400, JSON.stringify(reply.body));
    assert.equal(reply.body.error, 'invalid_request');
    assert.equal(reply.body.details[0].code, code);
    assert.match(reply.body.message, message);
  }
  // Code points, not UTF-16 units or bytes.
  const keys = await gateway.ask('POST', '/v1/runs', { ...start, idempotency_key: '😀'.repeat(200) });
  assert.equal(keys.status, 201);
  assert.equal((await gateway.ask('POST', '/v1/runs', { ...start, idempotency_key: '😀'.repeat(7) })).status, 400);
  assert.equal((await gateway.ask('POST', '/v1/runs', { ...start, metadata: pairs(32) })).status, 201);
});

test('the API describes itself, and its page loads nothing from elsewhere', async () => {
  await using gateway = await gatewayFixture();
  const { status, body } = await gateway.ask('GET', '/openapi.json', undefined, { authorization: '' });
  assert.equal(status, 200);
  const described = (method: string, url: string) =>
    body.paths[url.replaceAll(/:([a-z0-9_]+)/g, '{$1}').replace('*', '{path}')]?.[method.toLowerCase()];
  for (const { method, url } of gateway.app.routeTable().filter(({ surface }) => surface !== 'public')) {
    const operation = described(method, url);
    assert.ok(operation?.summary, `${method} ${url} is not described`);
    assert.ok(operation.security?.length > 0, `${method} ${url} does not say what it takes`);
  }
  assert.deepEqual(body.paths['/.well-known/methods'].get.security, []);
  const ids = Object.values<Record<string, { operationId?: string }>>(body.paths).flatMap((path) =>
    Object.values(path).map(({ operationId }) => operationId),
  );
  assert.deepEqual(
    ids.filter((id, at) => id === undefined || ids.indexOf(id) !== at),
    [],
    'each operation has a name of its own',
  );
  const start = body.paths['/v1/runs'].post;
  assert.equal(start.requestBody.content['application/json'].schema.additionalProperties, false);
  assert.ok(start.parameters.some(({ name }: { name: string }) => name === 'wait_ms'));
  const started = start.responses['201'].content['application/json'].schema.properties;
  const run = body.paths['/v1/runs/{id}'].get.responses['200'].content['application/json'].schema.properties;
  assert.deepEqual(Object.keys(started).toSorted(), Object.keys(run).toSorted());
  const page = await fetch(`http://127.0.0.1:${gateway.port}/reference`);
  const html = await page.text();
  assert.equal(page.status, 200);
  assert.match(page.headers.get('content-security-policy') ?? '', /connect-src 'self';.*/);
  assert.match(html, /"proxyUrl": ""/);
  const sources = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, source]) => source ?? '');
  assert.ok(sources.length > 0);
  assert.deepEqual(
    sources.filter((source) => /^(https?:)?\/\//.test(source)),
    [],
  );
  const script = await fetch(new URL(sources.find((source) => source.endsWith('.js')) ?? '', page.url));
  assert.equal(script.status, 200);
  assert.ok((await script.text()).length > 100_000);
});

test('editors get the schema of the language without a key', async () => {
  await using gateway = await gatewayFixture();
  const { status, headers, body } = await gateway.ask('GET', '/schemas/method-2.json', undefined, {
    authorization: '',
  });
  assert.equal(status, 200);
  assert.match(headers.get('content-type') ?? '', /^application\/schema\+json/);
  assert.equal(body.$schema, 'https://json-schema.org/draft/2020-12/schema');
  assert.ok(body.properties.steps);
});

test('healthz reports that the process is alive, readyz that its parts reply', async () => {
  await using gateway = await gatewayFixture();
  const ready = () => gateway.ask('GET', '/readyz', undefined, { authorization: '' });
  assert.equal((await gateway.ask('GET', '/healthz')).status, 200);
  assert.deepEqual((await ready()).body, { status: 'ready' });
  gateway.stopping = true;
  assert.deepEqual((await ready()).body, { status: 'not_ready', missing: ['stopping'] });
  gateway.stopping = false;
  await gateway.nodes[0]?.stop();
  await gateway.registry.stop();
  let reply = await ready();
  await until(async () => {
    reply = await ready();
    return reply.body.missing?.length === 2;
  });
  assert.deepEqual([reply.status, reply.body.missing], [503, ['run-scheduler', 'method-registry']]);
  assert.equal((await gateway.ask('GET', '/healthz')).status, 200);
});

test('one record for each request has the caller, the route and the outcome, and no content', async () => {
  await using gateway = await gatewayFixture();
  const canary = 'canary-7f3a';
  const start = { method: gateway.methodId, inputs: { name: canary }, metadata: { canary }, idempotency_key: canary };
  await gateway.ask('POST', '/v1/runs', start);
  await gateway.ask('POST', '/v1/runs', { ...start, inputs: { [canary]: canary } });
  await gateway.ask('POST', '/v1/runs', `{"${canary}":`);
  await gateway.ask('GET', `/v1/runs/${canary}?${canary}`, undefined, { authorization: `Bearer ${canary}` });
  const records = gateway.log.filter(({ msg }) => msg === 'request');
  assert.deepEqual(
    records.map(({ route, status, code }) => [route, status, code]),
    [
      ['/v1/runs', 201, undefined],
      ['/v1/runs', 409, 'idempotency_conflict'],
      ['/v1/runs', 400, 'invalid_request'],
      ['/v1/runs/:id', 401, 'unauthorized'],
    ],
  );
  assert.equal(records[0]?.org_id, gateway.orgId);
  const text = JSON.stringify(gateway.log);
  assert.ok(!text.includes(canary));
  assert.ok(!text.includes(gateway.apiKey.authPart));
});

test('schemas of routes are compiled one by one once the server listens, or in the turn that needs one', async () => {
  const schemas = routeSchemas();
  const rests: (() => void)[] = [];
  // No request comes first, so nothing else rests.
  const clock = {
    ...systemClock,
    after: (_ms: number, run: () => void) => ({ cancel: () => {}, at: rests.push(run) }),
  };
  await using gateway = await gatewayFixture({ schemas, clock });
  let compiled = 0;
  for (let rest = rests.shift(); rest && compiled < 50; rest = rests.shift(), compiled++) rest();
  assert.equal(compiled, 50);
  const { body } = await gateway.ask('POST', '/v1/runs', { method: 5 });
  assert.deepEqual([body.error, body.details[0].path], ['invalid_request', '/method']);
  // Each of the remaining ones compiles as well.
  while (schemas.compileNext()) compiled++;
  assert.ok(compiled > 200, `${compiled} compiled`);
});

test('1,500 clients that connect while the gateway is busy all wait for it', {
  skip: systemMaximum() < 1_500 && 'the system lets fewer connections wait',
}, async () => {
  await using gateway = await gatewayFixture();
  const sockets = Array.from({ length: 1_500 }, () => connect(gateway.port, '127.0.0.1').on('error', () => {}));
  try {
    // Still in the same turn of the event loop: they have connected, and none has been accepted.
    await new Promise<void>(process.nextTick);
    assert.equal(waitingConnections(gateway.port), 1_500);
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});

function systemMaximum(): number {
  const file = '/proc/sys/net/core/somaxconn';
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
}

/** The system's count for the socket that listens on this port. */
function waitingConnections(port: number): number {
  const address = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')} 00000000:0000 0A `;
  const [, line = ''] = readFileSync('/proc/net/tcp', 'utf8').split(address);
  return Number.parseInt(line.split(/[: ]/)[1] ?? '', 16);
}
