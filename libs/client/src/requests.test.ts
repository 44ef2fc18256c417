import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createServiceKey } from '@methods/auth/service-key';
import { createWebhookSecret, signatureHeader } from '@methods/auth/webhook-signature';
import * as client from './index.ts';

const { key: apiKey, authPart } = createServiceKey();
const RUN = { run_id: 'run_1', version_id: 'ver_1', status: 'queued' };

const WHOAMI = { org_id: 'org_1', key_id: 'key_1', content_on_devices: false, content_grants: [] };

interface Sent {
  readonly url: string;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

const scripted = (...replies: readonly (() => Response)[]) => scriptedFor({}, ...replies);

function scriptedFor(settings: client.MethodsOptions, ...replies: readonly (() => Response)[]) {
  const sent: Sent[] = [];
  const answer = async (url: string | URL | Request, init: RequestInit = {}) => {
    if (String(url).endsWith('/v1/whoami')) return Response.json(WHOAMI);
    const body = JSON.parse(String(init.body ?? '{}')) as Record<string, unknown>;
    sent.push({ url: String(url), headers: new Headers(init.headers), body });
    return (replies[sent.length - 1] ?? (() => Response.json(RUN)))();
  };
  const lines: string[] = [];
  const logger = { debug: (line: string) => void lines.push(line) };
  const options = { apiKey, baseUrl: 'http://server.test/', fetch: answer, logger, maxRetries: 2, ...settings };
  return { methods: new client.Methods(options), sent, lines };
}

const busy = () => new Response('{"error":"unavailable"}', { status: 503, headers: { 'retry-after': '0' } });

test('a start is repeated with the same key, and only the auth part of the service key is sent', async () => {
  const { methods, sent, lines } = scripted(busy, busy);
  assert.deepEqual(await methods.start({ method: 'wf_1', inputs: { name: 'Ada' } }), RUN);
  assert.equal(sent.length, 3);
  assert.equal(new Set(sent.map(({ body }) => body.idempotency_key)).size, 1);
  assert.ok(sent.every(({ headers }) => headers.get('authorization') === `Bearer ${authPart}`));
  assert.ok(lines.length === 4 && !lines.join().includes('Ada') && !lines.join().includes(authPart));
});

test('a call that waits for a run that has started outlasts more faults than other calls', async () => {
  const ended = { ...RUN, status: 'succeeded', steps: [], timing: {} };
  const scripts = [() => Response.json(RUN), busy, busy, busy, busy, () => Response.json(ended)];
  const { methods, sent } = scripted(...scripts);
  assert.equal((await methods.run({ method: 'wf_1' })).status, 'succeeded');
  assert.equal(sent.length, 6);
  const impatient = scriptedFor({ maxRetries: 0 }, () => Response.json(RUN), busy);
  await assert.rejects(impatient.methods.run({ method: 'wf_1' }), { code: 'unavailable' });
});

test('a start that keeps failing reports the last reply, and one that is refused is not repeated', async () => {
  const failing = scripted(busy, busy, busy);
  await assert.rejects(failing.methods.start({ method: 'wf_1' }), {
    name: 'ServerError',
    code: 'unavailable',
    status: 503,
  });
  assert.equal(failing.sent.length, 3);
  const body = { error: 'invalid_inputs', message: 'No.', details: [{ path: '/n', code: 'type', message: 'No.' }] };
  const refused = scripted(() => Response.json(body, { status: 422, headers: { 'x-request-id': 'r-1' } }));
  await assert.rejects(refused.methods.start({ method: 'wf_1' }), (error) => {
    assert.ok(error instanceof client.InvalidRequestError && error instanceof client.MethodsError);
    assert.deepEqual(
      [error.code, error.status, error.requestId, error.details],
      ['invalid_inputs', 422, 'r-1', body.details],
    );
    return true;
  });
  assert.equal(refused.sent.length, 1);
});

test('Retry-After is obeyed, as seconds or as a date, unless it is too long', async () => {
  const asked = (retryAfter: string) => () =>
    Response.json({ error: 'rate_limited', message: 'Slow.' }, { status: 429, headers: { 'retry-after': retryAfter } });
  const date = new Date(Date.now() - 1_000).toUTCString();
  const soon = scripted(asked('0'), asked(date));
  assert.deepEqual(await soon.methods.start({ method: 'wf_1' }), RUN);
  const late = scripted(asked('61'));
  await assert.rejects(late.methods.start({ method: 'wf_1' }), { name: 'RateLimitError', retryAfterMs: 61_000 });
  assert.equal(late.sent.length, 1);
});

test('many starts share requests, and those that were refused in passing are repeated by themselves', async () => {
  const items =
    (...each: object[]) =>
    () =>
      Response.json({ items: each });
  const started = { status: 201, run: RUN };
  const busyItem = { status: 503, error: { error: 'unavailable', message: 'Busy.' }, retry_after: 0 };
  const refused = { status: 422, error: { error: 'invalid_inputs', message: 'No.', details: [] } };
  const { methods, sent } = scripted(items(started, busyItem, refused), items(started));
  const outcomes = await methods.startMany(['wf_1', 'wf_2', 'wf_3'].map((method) => ({ method })));
  assert.deepEqual(
    outcomes.map(({ run, error }) => run?.run_id ?? error?.code),
    ['run_1', 'run_1', 'invalid_inputs'],
  );
  const [first, second] = sent.map(({ body }) => body.runs as { method: string; idempotency_key: string }[]);
  assert.deepEqual(second, [first?.[1]]);
  const many = scripted(items(...Array.from({ length: 1_000 }, () => started)), items(started));
  assert.equal((await many.methods.startMany(Array.from({ length: 1_001 }, () => ({ method: 'wf_1' })))).length, 1_001);
  assert.equal(many.sent.length, 2);
  assert.deepEqual(await many.methods.startMany([]), []);
});

test('starts that a limit refuses are repeated as long as some of them are started', async () => {
  const limited = { status: 429, error: { error: 'rate_limited', message: 'Slow.' }, retry_after: 0 };
  // Each request starts one of those that are left.
  const replies = Array.from({ length: 12 }, (_, n) => () => {
    const items = Array.from({ length: 12 - n }, (_, at) => (at === 0 ? { status: 201, run: RUN } : limited));
    return Response.json({ items });
  });
  const { methods, sent } = scripted(...replies);
  const outcomes = await methods.startMany(Array.from({ length: 12 }, () => ({ method: 'wf_1' })));
  assert.deepEqual([sent.length, outcomes.filter(({ run }) => run !== undefined).length], [12, 12]);
  const none = () => Response.json({ items: [limited, limited] });
  const stuck = scripted(none, none, none);
  const refused = await stuck.methods.startMany([{ method: 'wf_1' }, { method: 'wf_1' }]);
  assert.deepEqual([refused.map(({ error }) => error?.code), stuck.sent.length], [['rate_limited', 'rate_limited'], 3]);
});

test('a request of many starts that fails loses no outcome of those before it', async () => {
  const batch = () => Response.json({ items: Array.from({ length: 1_000 }, () => ({ status: 201, run: RUN })) });
  const refusal = () => Response.json({ error: 'forbidden', message: 'No.' }, { status: 403 });
  const starts = Array.from({ length: 3_000 }, () => ({ method: 'wf_1' }));
  const { methods, sent } = scripted(batch, refusal);
  const outcomes = await methods.startMany(starts);
  assert.deepEqual(
    [0, 999, 1_000, 2_999].map((at) => outcomes[at]?.run?.run_id ?? outcomes[at]?.error?.code),
    ['run_1', 'run_1', 'forbidden', 'forbidden'],
  );
  assert.deepEqual([outcomes.length, sent.length], [3_000, 2], 'what follows it is not tried');
  // Nothing is known to have started: the call fails as one.
  await assert.rejects(scripted(refusal).methods.startMany(starts), { code: 'forbidden' });
});

test('a reply that was cut, or of another server, is a typed error', async () => {
  const single = { maxRetries: 0, apiKey, baseUrl: 'http://server.test' };
  const with200 = new client.Methods({ ...single, fetch: async () => new Response('{"run_id": "ru') });
  await assert.rejects(with200.start({ method: 'wf_1' }), { name: 'ConnectionError', code: 'bad_reply' });
  const stranger = new client.Methods({ ...single, fetch: async () => new Response('<html>', { status: 404 }) });
  await assert.rejects(stranger.runs.get('run_1'), { name: 'UnexpectedReplyError', code: 'unexpected_reply' });
  const later = new client.Methods({ ...single, fetch: async () => Response.json({ ...RUN, status: 'resting' }) });
  await assert.rejects(later.run({ method: 'wf_1' }), { name: 'UnexpectedReplyError', status: 200 });
  const down = new client.Methods({ ...single, baseUrl: 'http://127.0.0.1:1' });
  await assert.rejects(down.runs.get('run_1'), { name: 'ConnectionError', code: 'unreachable' });
});

test('a server that does not reply is a timeout, and a caller that gives up gets its own reason', async () => {
  const server = createServer().on('connection', (socket) => socket.resume());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const options = { apiKey, baseUrl: `http://127.0.0.1:${port}`, maxRetries: 0 };
  try {
    await assert.rejects(new client.Methods({ ...options, timeout: 5 }).runs.get('run_1'), { name: 'TimeoutError' });
    const leaving = new AbortController();
    const call = new client.Methods(options).start({ method: 'wf_1', signal: leaving.signal });
    leaving.abort(new Error('enough'));
    await assert.rejects(call, { message: 'enough' });
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('a key that is missing or mistyped is refused before any request', () => {
  const mistyped = `${apiKey.slice(0, -1)}${apiKey.endsWith('a') ? 'b' : 'a'}`;
  const make = (key: string) => () => new client.Methods({ apiKey: key, baseUrl: 'http://server.test' });
  for (const key of [mistyped, apiKey.slice(0, 60), '']) {
    assert.throws(make(key), { name: 'ConfigurationError', code: 'mistyped_key' });
  }
  assert.throws(() => new client.Methods({ apiKey, baseUrl: 'server.test' }), { code: 'no_server' });
});

test('a webhook is accepted for any matching signature, and refused when forged or old', () => {
  const [secret, other] = [createWebhookSecret(), createWebhookSecret()];
  const body = '{"event":"succeeded"}';
  const header = signatureHeader([other, secret], 1_000, body);
  const { verify } = client.webhooks;
  assert.deepEqual(verify(body, { 'Service-Signature': header }, secret, { nowS: 1_300 }), { event: 'succeeded' });
  assert.throws(() => verify(body, header, secret, { nowS: 1_301 }), { name: 'WebhookError', code: 'webhook_stale' });
  assert.throws(() => verify(`${body} `, header, secret, { nowS: 1_000 }), { code: 'webhook_mismatch' });
  for (const missing of [new Headers(), {}, '', null, undefined, { 'service-signature': [header, header] }]) {
    assert.throws(() => verify(body, missing, secret), { name: 'WebhookError', code: 'webhook_malformed' });
  }
  // What a web server has parsed cannot be verified.
  assert.throws(() => verify(JSON.parse(body), header, secret), { name: 'WebhookError', code: 'webhook_parsed' });
});

test('a webhook is verified by its headers in each form that servers have them', () => {
  const secret = createWebhookSecret();
  const body = '{"event":"question.reminded"}';
  const header = signatureHeader(secret, 1_000, body);
  const ofAnotherLibrary = { get: (name: string) => (name.toLowerCase() === 'service-signature' ? header : null) };
  const forms = [
    header,
    { 'service-signature': header },
    { 'Service-Signature': [header] },
    new Headers({ 'Service-Signature': header }),
    ofAnotherLibrary,
  ];
  for (const form of forms) {
    assert.equal(client.webhooks.verify(body, form, secret, { nowS: 1_000 }).event, 'question.reminded');
  }
});

test('without a secret no webhook is accepted, and the error is not that of a forged one', () => {
  const body = '{"event":"succeeded"}';
  const header = signatureHeader('', 1_000, body);
  for (const secret of ['', undefined as unknown as string]) {
    assert.throws(() => client.webhooks.verify(body, header, secret, { nowS: 1_000 }), {
      name: 'ConfigurationError',
      code: 'no_webhook_secret',
    });
  }
});
