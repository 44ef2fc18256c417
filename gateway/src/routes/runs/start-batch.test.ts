import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@methods/base/clock';
import { newId, type RunId } from '@methods/base/ids';
import { RunStatus } from '@methods/proto/run/v1/run_pb';
import { gatewayFixture, type Reply, until } from '../../testing/gateway.fixture.ts';
import { turnedClock } from '../../testing/turned-clock.fixture.ts';

/** The bucket is not refilled, however slow the machine is. */
const STOPPED = { ...systemClock, monotonicMs: () => 0 };

type Gateway = Awaited<ReturnType<typeof gatewayFixture>>;

const batch = (gateway: Gateway, runs: readonly unknown[], headers = {}) =>
  gateway.ask('POST', '/v1/runs/batch', { runs }, headers);

const statuses = ({ body }: Pick<Reply, 'body'>) => body.items.map(({ status }: { status: number }) => status);

/** The caller hangs up when the test says so. */
function leftBatch(gateway: Gateway, runs: readonly unknown[], headers: Record<string, string> = {}) {
  const caller = new AbortController();
  const reply = fetch(`http://127.0.0.1:${gateway.port}/v1/runs/batch`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.apiKey.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ runs }),
    signal: caller.signal,
  }).catch(() => null);
  return { reply, leave: () => caller.abort() };
}

test('each start of a batch has the outcome that it would have by itself, in order', async () => {
  await using gateway = await gatewayFixture();
  const { methodId: method, book } = gateway;
  const known = { method, inputs: { name: 'Ada' }, idempotency_key: 'order-0001' };
  const first = await gateway.ask('POST', '/v1/runs', known);
  book.change(first.body.run_id, { status: RunStatus.RUNNING });
  const starts = [
    known,
    { ...known, inputs: { name: 'Bob' } },
    { ...known, inputs: { name: 7 } },
    { method, inputs: { name: 7 } },
    { method, inputs: { name: 'Ada' }, idempotency_key: 'short' },
    { method, inputs: { name: 'Ada' }, wait_ms: 5 },
    { method: newId('org'), inputs: {} },
    { method: `wf_${method}`, inputs: { name: 'Ada' }, webhook_url: 'http://127.0.0.1/' },
    { method, inputs: { name: 'x'.repeat(300_000) } },
    { method, inputs: { name: 'x'.repeat(1_100_000) } },
    { method, inputs: { name: '\ud800' } },
    7,
  ];
  const alone: Reply[] = [];
  for (const start of starts) alone.push(await gateway.ask('POST', '/v1/runs', start));
  const more = { metadata: { order: '7' }, webhook_url: 'https://example.com/hook' };
  const { status, body } = await batch(gateway, [...starts, { method, inputs: { name: 'Ada', times: 2 }, ...more }]);
  assert.equal(status, 200);
  assert.equal(body.items.length, starts.length + 1);
  const told = (error: Record<string, unknown>) => ({ ...error, request_id: '' });
  for (const [n, reply] of alone.entries()) {
    const { status: itsStatus, run, error } = body.items[n];
    assert.equal(itsStatus, reply.status, `start ${n}`);
    // The size limit of a body applies to each start.
    if (error?.details?.[0].code === 'body_bytes') assert.equal(reply.body.details[0].code, 'body_bytes');
    else if (error) assert.deepEqual(told(error), told(reply.body), `start ${n}`);
    else assert.deepEqual(run, reply.body, `start ${n}`);
  }
  assert.deepEqual(statuses({ body }), [200, 409, 409, 422, 400, 400, 404, 422, 413, 413, 400, 400, 201]);
  const start = book.starts.find(({ webhookUrl }) => webhookUrl !== '');
  assert.deepEqual([start?.inputsJson, start?.webhookUrl], ['{"name":"Ada","times":2}', more.webhook_url]);
  assert.equal(start?.keyId, gateway.apiKey.keyId);
  assert.equal(body.items.at(-1).run.status, 'queued');
});

test('a key that a batch uses twice starts one run, and a repeated batch starts none', async () => {
  await using gateway = await gatewayFixture();
  const start = (n: number) => ({ method: gateway.methodId, inputs: { name: 'Ada' }, idempotency_key: `order-${n}` });
  const runs = [start(1_000), ...Array.from({ length: 300 }, (_, n) => start(1_000 + n))];
  const first = await batch(gateway, runs);
  assert.deepEqual(statuses(first), [201, 200, ...Array(299).fill(201)]);
  const again = await batch(gateway, runs);
  assert.deepEqual(statuses(again), Array(301).fill(200));
  const ids = ({ body }: Reply) => body.items.map(({ run }: { run: { run_id: RunId } }) => run.run_id);
  assert.deepEqual(ids(again), ids(first));
  assert.equal(gateway.book.runs.size, 300);
});

test('starts with one key that are refused have their turns one after another, until one has the run', async () => {
  await using gateway = await gatewayFixture();
  const start = { method: gateway.methodId, inputs: { name: 7 }, idempotency_key: 'order-1000' };
  const good = { ...start, inputs: { name: 'Ada' } };
  const { body } = await batch(gateway, [...Array(100).fill(start), good, good, start]);
  assert.deepEqual(statuses({ body }), [...Array(100).fill(422), 201, 200, 409]);
});

test('a body that is not a batch is refused as a whole, and starts nothing', async () => {
  await using gateway = await gatewayFixture();
  const start = { method: gateway.methodId, inputs: { name: 'Ada' } };
  const refused = async (body: unknown) => {
    const reply = await gateway.ask('POST', '/v1/runs/batch', body);
    return [reply.status, reply.body.details?.[0]?.code ?? reply.body.error];
  };
  assert.deepEqual(await refused([start]), [400, 'type']);
  assert.deepEqual(await refused({}), [400, 'required']);
  assert.deepEqual(await refused({ runs: start }), [400, 'type']);
  assert.deepEqual(await refused({ runs: [] }), [400, 'runs_items']);
  assert.deepEqual(await refused({ runs: Array(1_001).fill(start) }), [400, 'runs_items']);
  assert.deepEqual(await refused({ runs: [start], run: 1 }), [400, 'unknown_field']);
  assert.deepEqual(await refused('{"runs":[{}'), [400, 'invalid_request']);
  assert.deepEqual(await refused({ runs: [{ ...start, inputs: { name: 'x'.repeat(4 << 20) } }] }), [413, 'body_bytes']);
  const query = await gateway.ask('POST', '/v1/runs/batch?wait_ms=5', { runs: [start] });
  assert.equal(query.status, 400);
  assert.equal(gateway.book.starts.length, 0);
});

test('every start counts against the rate: the first ones are within it, the others get the time to wait', async () => {
  await using gateway = await gatewayFixture({ rateLimitPerKey: 10, rateLimitPerOrganization: 15, clock: STOPPED });
  const runs = Array.from({ length: 25 }, () => ({ method: gateway.methodId, inputs: { name: 'Ada' } }));
  const first = await batch(gateway, runs);
  assert.deepEqual(statuses(first), [...Array(20).fill(201), ...Array(5).fill(429)]);
  const { error, retry_after } = first.body.items.at(-1);
  assert.deepEqual([error.error, error.share, retry_after >= 1], ['rate_limited', 'key', true]);
  assert.equal(first.headers.get('ratelimit-remaining'), '0');
  assert.equal((await batch(gateway, runs)).status, 429);
  assert.equal((await gateway.ask('POST', '/v1/runs', runs[0])).status, 429, 'nor does a single one get through');
  const second = { authorization: `Bearer ${gateway.registry.key(gateway.orgId).key}` };
  const ofOther = await batch(gateway, runs, second);
  assert.deepEqual(statuses(ofOther), [...Array(10).fill(201), ...Array(15).fill(429)]);
  assert.equal(ofOther.body.items.at(-1).error.share, 'organization');
  assert.equal(gateway.book.starts.length, 30);
});

const COSTLY = `format: method/2
name: costly
inputs: { texts: 'list<string /^[a-z0-9]{1,100}$/>' }
steps:
  - name: one
    node: return {};
`;

test('a thousand errors with all their details make a reply of bounded size', async () => {
  await using gateway = await gatewayFixture();
  const { methodId: method } = gateway.registry.method(gateway.orgId, COSTLY);
  const { body } = await batch(gateway, Array(1_000).fill({ method, inputs: { texts: Array(30).fill('A B') } }));
  assert.deepEqual(new Set(statuses({ body })), new Set([422]));
  const [first, last] = [body.items[0].error, body.items[999].error];
  assert.equal(first.details.length, 20);
  assert.deepEqual(last, { error: 'invalid_inputs', message: first.message, request_id: first.request_id });
  assert.ok(JSON.stringify(body).length < 1.5 * 2 ** 20);
});

test('a thousand starts that cost much to check do not delay the start of another organization', async () => {
  await using gateway = await gatewayFixture();
  const { methodId } = gateway.registry.method(gateway.orgId, COSTLY);
  const texts = Array.from({ length: 500 }, (_, n) => `t${n}`);
  const orgId = newId('org');
  const other = { authorization: `Bearer ${gateway.registry.key(orgId).key}` };
  const { methodId: quick } = gateway.registry.method(orgId, COSTLY);
  const start = () => gateway.ask('POST', '/v1/runs', { method: quick, inputs: { texts: [] } }, other);
  assert.equal((await start()).status, 201);
  const { reply, leave } = leftBatch(gateway, Array(900).fill({ method: methodId, inputs: { texts } }));
  const begun = () => gateway.book.starts.filter((one) => one.orgId === gateway.orgId).length;
  await until(() => begun() > 0);
  for (let n = 0; n < 5; n++) assert.equal((await start()).status, 201);
  assert.ok(begun() < 900, `${begun()} before it`);
  leave();
  await reply;
  // A caller that has hung up starts no more.
  assert.equal((await start()).status, 201);
  assert.ok(begun() < 900, `${begun()} in all`);
});

test('starts without replies delay the others, by their number and bytes', async () => {
  await using gateway = await gatewayFixture();
  const [node] = gateway.nodes;
  assert.ok(node);
  node.frozen = true;
  const source = `format: method/2\nname: wide\ninputs: { text: text = '${'x'.repeat(100_000)}' }\nsteps:\n  - name: one\n    node: return {};\n`;
  const { methodId: wide } = gateway.registry.method(gateway.orgId, source);
  const sentAtOnce = async (start: object, expected: number) => {
    const before = node.count('start');
    const { reply, leave } = leftBatch(gateway, Array(1_000).fill(start));
    await until(() => node.count('start') - before >= expected);
    await new Promise(setImmediate);
    assert.equal(node.count('start') - before, expected);
    leave();
    await reply;
  };
  await sentAtOnce({ method: gateway.methodId, inputs: { name: 'Ada' } }, 512);
  await sentAtOnce({ method: wide }, 21);
});

test('a batch begins nothing after twenty seconds, and its caller gets the outcome of every start', async () => {
  const { clock, turn } = turnedClock();
  await using gateway = await gatewayFixture({ clock });
  const [node] = gateway.nodes;
  assert.ok(node);
  // The first start takes all the time; no more than 512 have been sent by then.
  node.endsStreamOver = () => {
    turn(20_001);
    return null;
  };
  const { status, body } = await batch(
    gateway,
    Array(1_000).fill({ method: gateway.methodId, inputs: { name: 'Ada' } }),
  );
  assert.equal(status, 200);
  const begun = gateway.book.starts.length;
  assert.ok(begun > 0 && begun <= 512, `${begun} have begun`);
  assert.deepEqual(statuses({ body }), [...Array(begun).fill(201), ...Array(1_000 - begun).fill(503)]);
  assert.match(body.items[999].error.message, /took too long/);
  // The time limit applies to one batch.
  assert.deepEqual(statuses(await batch(gateway, [{ method: gateway.methodId, inputs: { name: 'Ada' } }])), [201]);
});

test('six batches of a key and eight of its organization are under way at once, and more are refused unread', async () => {
  // Calls without a reply do not end by themselves.
  await using gateway = await gatewayFixture({ schedulerClock: STOPPED });
  const [node] = gateway.nodes;
  assert.ok(node);
  node.frozen = true;
  const run = { method: gateway.methodId, inputs: { name: 'Ada' } };
  const keyOf = (orgId: typeof gateway.orgId) => ({ authorization: `Bearer ${gateway.registry.key(orgId).key}` });
  const second = keyOf(gateway.orgId);
  const open: ReturnType<typeof leftBatch>[] = [];
  const opened = async (headers: Record<string, string>) => {
    open.push(leftBatch(gateway, [run], headers));
    await until(() => node.count('start') === open.length);
  };
  const refusal = async (headers: Record<string, string>, body: unknown = { runs: [run] }) => {
    const reply = await gateway.ask('POST', '/v1/runs/batch', body, headers);
    return [reply.status, reply.body.share];
  };
  for (let n = 0; n < 6; n++) await opened({});
  assert.deepEqual(await refusal({}), [429, 'key']);
  assert.deepEqual(await refusal({}, 'not even JSON'), [429, 'key']);
  for (let n = 0; n < 2; n++) await opened(second);
  assert.deepEqual(await refusal(second), [429, 'organization']);
  const orgId = newId('org');
  const { methodId: method } = gateway.registry.method(orgId, gateway.source);
  node.frozen = false;
  assert.deepEqual(statuses(await batch(gateway, [{ ...run, method }], keyOf(orgId))), [201]);
  // A caller that disconnects releases its place.
  const [first] = open;
  first?.leave();
  await first?.reply;
  await until(async () => (await batch(gateway, [run])).status === 200);
  for (const { reply, leave } of open) {
    leave();
    await reply;
  }
});
