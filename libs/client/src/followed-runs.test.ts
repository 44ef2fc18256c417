// A thousand calls that wait: what they cost the server in connections, and this process in timers.
import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { createServiceKey } from '@methods/auth/service-key';
import { until } from '@methods/test/harness/until';
import { FollowedRun } from './followed-runs.ts';
import { Methods, type MethodsOptions } from './index.ts';
import type { Run } from './run.ts';

const RUNS = 1_000;
const { key: apiKey } = createServiceKey();

/** Knows what the library asks for: starts, runs, and the stream of the organization. */
class FakeService {
  readonly runs = new Map<string, object & { status: string }>();
  readonly readers = new Set<ServerResponse>();
  readonly streams: (string | undefined)[] = [];
  reads = 0;
  refuseStreams = false;
  /** Called when a run is stored, before its start is answered. */
  onStart = (_runId: string) => {};
  private events = 0;

  handle(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const json = (value: object, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (pathname === '/v1/whoami') json({ org_id: 'org_1', content_on_devices: false, content_grants: [] });
    else if (pathname === '/v1/events') {
      this.streams.push(request.headers['last-event-id'] as string | undefined);
      if (this.refuseStreams) return void json({ error: 'not_found', message: 'No.' }, 404);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      this.readers.add(response);
      response.once('close', () => this.readers.delete(response));
      response.write(`event: ready\nid: e-${this.events}\ndata: {}\n\n`);
    } else if (request.method === 'POST') {
      request.resume().once('end', () => {
        const id = `run_${this.runs.size}`;
        const run = { run_id: id, version_id: 'ver_1', status: 'queued', steps: [], timing: {} };
        this.runs.set(id, run);
        this.onStart(id);
        // Those that wait on their own connection never end.
        if (!searchParams.has('wait_ms')) json(run);
      });
    } else {
      this.reads++;
      const run = this.runs.get(pathname.slice('/v1/runs/'.length));
      json(run ?? { error: 'not_found', message: 'No.' }, run ? 200 : 404);
    }
  }

  ends(runId: string, sends = true): void {
    const run = { ...this.runs.get(runId), status: 'succeeded', result: { of: runId } };
    this.runs.set(runId, run);
    if (sends) this.send('run', run);
  }

  send(event: string, data: object): void {
    const text = `event: ${event}\nid: e-${++this.events}\ndata: ${JSON.stringify(data)}\n\n`;
    for (const reader of this.readers) reader.write(text);
  }

  cut(): void {
    for (const reader of this.readers) reader.destroy();
  }
}

let service: FakeService;
let server: Server;
let baseUrl: string;
/** The most connections at a time. */
let connections = 0;

before(async () => {
  server = createServer((request, response) => service.handle(request, response));
  const open = new Set<object>();
  server.on('connection', (socket) => {
    connections = Math.max(connections, open.add(socket).size);
    socket.once('close', () => open.delete(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => {
  server.closeAllConnections();
  server.close();
});

/** A client whose own connections are taken by calls that wait forever: all others share one. */
async function clientThatShares(
  signal: AbortSignal,
  options: MethodsOptions = {},
): Promise<{ methods: Methods; left: Promise<unknown> }> {
  service = new FakeService();
  const methods = new Methods({ apiKey, baseUrl, maxRetries: 1, ...options });
  const calls = Array.from({ length: 4 }, () => methods.run({ method: 'wf_1', signal }));
  await until('four runs are started', () => service.runs.size === 4);
  return { methods, left: Promise.allSettled(calls) };
}

test('a thousand calls that wait use a handful of connections and no timers', async () => {
  connections = 0;
  const timers = new Set<number>();
  const hook = createHook({
    init: (id, type) => void (type === 'Timeout' && timers.add(id)),
    destroy: (id) => void timers.delete(id),
  }).enable();
  const leaving = new AbortController();
  try {
    const { methods, left } = await clientThatShares(leaving.signal);
    const others = [...service.runs.keys()];
    const calls = Array.from({ length: RUNS }, () => methods.run({ method: 'wf_1' }));
    await until('all runs are started', () => service.runs.size === RUNS + 4);
    const started = [...service.runs.keys()].slice(4);
    assert.ok(connections <= 13, `${connections} connections`);
    // Those of the server in this process are among them: of its connections, and of closing idle ones.
    assert.ok(timers.size < 50, `${timers.size} timers`);
    assert.equal(service.readers.size, 1);
    for (const id of started) service.ends(id);
    const ended = await Promise.all(calls);
    assert.deepEqual(new Set(ended.map(({ run_id: id }) => id)), new Set(started));
    assert.ok(ended.every(({ result, run_id: id }) => result?.of === id));
    assert.equal(service.reads, 0);
    assert.ok(connections <= 13, `${connections} connections`);
    await until('the stream is closed', () => service.readers.size === 0);
    leaving.abort(new Error('enough'));
    await left;
    assert.equal(others.length, 4);
  } finally {
    leaving.abort();
    hook.disable();
  }
});

test('a run that ends before its start is answered, or while the stream is broken, is not missed', async () => {
  const leaving = new AbortController();
  let received = '';
  const arrived = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      received += Buffer.from(chunk).toString();
      controller.enqueue(chunk);
    },
  });
  let isFirst = true;
  // The first start of a run that shares is answered when the stream has reported its end.
  const startsLast: typeof fetch = async (url, init) => {
    const response = await fetch(url, init);
    if (!isFirst || !/\/v1\/(?:runs|events)$/.test(String(url))) return response;
    if (String(url).endsWith('/v1/events')) return new Response(response.body?.pipeThrough(arrived), response);
    isFirst = false;
    await until('its end has arrived', () => received.includes('"succeeded"'));
    return response;
  };
  const { methods, left } = await clientThatShares(leaving.signal, { fetch: startsLast });
  service.onStart = (id) => service.ends(id);
  assert.equal((await methods.run({ method: 'wf_1' })).result?.of, 'run_4');
  assert.equal(service.reads, 1);

  service.onStart = () => {};
  const calls = [methods.run({ method: 'wf_1' })];
  await until('the first is started', () => service.runs.size === 6);
  calls.push(methods.run({ method: 'wf_1' }));
  await until('both are started', () => service.runs.size === 7);
  service.ends('run_5');
  assert.equal((await calls[0])?.run_id, 'run_5');
  const before = service.streams.length;
  service.cut();
  await until('the stream is opened again', () => service.streams.length > before);
  assert.match(service.streams.at(-1) ?? '', /^e-\d+$/);
  service.ends('run_6', false);
  service.send('resync', {});
  assert.equal((await calls[1])?.run_id, 'run_6');
  leaving.abort();
  await left;
});

test('an event that is cut, or has a status of a later version, makes its run be read', async () => {
  const leaving = new AbortController();
  const { methods, left } = await clientThatShares(leaving.signal);
  const calls = [methods.run({ method: 'wf_1' }), methods.run({ method: 'wf_1' })];
  // Not before the calls follow their runs.
  await Promise.all(calls.map((_, n) => until('it is started', () => service.runs.has(`run_${4 + n}`))));
  await methods.runs.get('run_4');
  service.ends('run_4', false);
  for (const reader of service.readers) reader.write('event: run\nid: e-9\ndata: {"run_id":"run_4","st\n\n');
  assert.equal((await calls[0])?.result?.of, 'run_4');
  service.runs.set('run_5', { ...service.runs.get('run_5'), status: 'resting' });
  service.send('run', { run_id: 'run_5', status: 'resting', steps: [] });
  await assert.rejects(async () => calls[1], { name: 'UnexpectedReplyError' });
  leaving.abort();
  await left;
});

test('calls that wait outlast a gateway that is restarted', async () => {
  const leaving = new AbortController();
  let refused = 0;
  let isDown = false;
  const throughOutages: typeof fetch = async (url, init) => {
    if (!isDown) return fetch(url, init);
    refused++;
    return Response.json({ error: 'unavailable' }, { status: 503, headers: { 'retry-after': '0' } });
  };
  const { methods, left } = await clientThatShares(leaving.signal, { fetch: throughOutages });
  const call = methods.run({ method: 'wf_1' });
  const other = methods.run({ method: 'wf_1' });
  await until('both are started', () => service.runs.size === 6);
  const before = service.streams.length;
  isDown = true;
  service.cut();
  await until('the outage lasts longer than the usual repetitions', () => refused >= 3);
  service.ends('run_4', false);
  service.ends('run_5', false);
  isDown = false;
  await until('the stream is opened again', () => service.streams.length > before);
  service.send('resync', {});
  assert.equal((await call).result?.of, 'run_4');
  assert.equal((await other).result?.of, 'run_5');
  leaving.abort();
  await left;
});

test('without the stream the runs are read one by one, and a caller that gives up gets its own reason', async () => {
  const leaving = new AbortController();
  const { methods, left } = await clientThatShares(leaving.signal);
  service.refuseStreams = true;
  const patience = new AbortController();
  const impatient = methods.run({ method: 'wf_1', signal: patience.signal });
  const patient = methods.run({ method: 'wf_1' });
  await until('both are started', () => service.runs.size === 6);
  patience.abort(new Error('enough'));
  await assert.rejects(impatient, { message: 'enough' });
  service.ends('run_4', false);
  service.ends('run_5', false);
  assert.equal((await patient).status, 'succeeded');
  leaving.abort();
  await left;
});

test('a key that was revoked meanwhile ends the waiting with its error', async () => {
  const leaving = new AbortController();
  const { methods, left } = await clientThatShares(leaving.signal);
  const call = methods.run({ method: 'wf_1' });
  await until('it is started', () => service.runs.size === 5);
  const handle = service.handle.bind(service);
  service.handle = (request, response) => {
    if (request.url !== '/v1/events') handle(request, response);
    else response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"unauthorized"}');
  };
  service.cut();
  await assert.rejects(call, { name: 'AuthenticationError' });
  leaving.abort();
  await left;
});

test('a reply that was asked for before an event does not hide it', async () => {
  const followed = new FollowedRun('run_1', () => {});
  const state = (status: string, more: object = {}) => ({ run_id: 'run_1', status, ...more }) as unknown as Run;
  followed.offer(state('waiting', { question: { id: 'q_1' } }), 2);
  followed.offer(state('running'), 1);
  assert.equal((await followed.next(undefined, undefined)).question?.id, 'q_1');
  followed.offer(state('succeeded'), 3);
  followed.offer(state('running'), 4);
  assert.equal((await followed.next('q_1', undefined)).status, 'succeeded');
});
