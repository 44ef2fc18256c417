// What one organization, or a stranger, may try against a service that others share.
import { randomBytes, randomUUID } from 'node:crypto';
import { createServiceKey } from '@methods/auth/service-key';
import { newId } from '@methods/base/ids';
import { type Attack, type AttackTarget, byCallers } from './attack.ts';
import { type RawRequest, requestBytes } from './raw-http.ts';
import { junkCall, redial } from './worker-port.ts';

const DRIP_MS = 20;
const wrongRow = { code: `${'a'.repeat(60)}!`, size: 'x', kind: 'tiny', note: 7, other: { a: [1, 2, 3] } };
const manyRows = (bytes: number) => Array.from({ length: Math.floor(bytes / 130) }, () => wrongRow);

export const attacks: Readonly<Record<string, Attack>> = {
  'inputs of which every value is wrong': repeated((target) =>
    start(target, { inputs: { rows: manyRows(200_000), more: {} } }),
  ),
  'inputs nested in ways that no schema names': repeated((target) => {
    const deep = JSON.parse(`${'['.repeat(60)}1${']'.repeat(60)}`);
    const more = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`k${n}`, [deep, wrongRow]]));
    return start(target, { inputs: { more } });
  }),
  'starts as fast as they go': repeated((target) => start(target, { metadata: { a: 'b'.repeat(500) } })),
  'starts and cancels with a webhook that never replies': byCallers(
    (target) => target,
    async ({ target, http }) => {
      const webhook_url = `${target.silentUrl}/${randomUUID()}`;
      const started = await http.ask(requestBytes(start(target, { webhook_url })));
      const runId = runIdOf(started.text);
      if (runId === null) return started.status;
      return (await http.ask(requestBytes(post(target, `/v1/runs/${runId}/cancel`, {})))).status;
    },
  ),
  'waits for runs that never end': repeated((target) => start(target, {}, '?wait_ms=60000'), 400),
  'event streams that are never read': byCallers(
    (target) => requestBytes(start(target, {})),
    async ({ target, http, end }, bytes) => {
      const started = await http.ask(bytes);
      const runId = runIdOf(started.text);
      if (runId === null) return started.status;
      const { status } = await http.ask(requestBytes(get(target, `/v1/runs/${runId}/events`)));
      http.readNoMore();
      if (status === '200') await new Promise<void>((resolve) => end.at(resolve));
      return status;
    },
    300,
  ),
  'lists of everything, with filters that match nothing': each((target) =>
    get(target, `/v1/runs?limit=200&metadata.${randomUUID().slice(0, 8)}=x&status=failed`),
  ),
  'pages of lists from the middle of nowhere': each((target) =>
    get(target, `/v1/runs?limit=200&cursor=${Buffer.from(randomUUID()).toString('base64url')}`),
  ),
  'sources that are long and wrong': repeated((target) => {
    const step = (n: number) => `  - name: s${n}\n    set: { a: "=1 +" }\n    out: { a: nothing, b: list<Nope> }\n`;
    const source = `format: method/2\nname: x\nsteps:\n${Array.from({ length: 2_500 }, (_, n) => step(n)).join('')}`;
    return { ...post(target, '/api/methods/validate', { source }), key: target.token };
  }),
  'made-up keys': each((target) => ({
    ...get(target, `/v1/runs/${newId('run')}`),
    key: createServiceKey().key,
  })),
  'the description of the API, without a key': each((target) => ({ ...get(target, '/openapi.json'), key: '' })),
  'requests by the hundred in one packet': byCallers(
    (target) => Buffer.concat(Array.from({ length: 100 }, () => requestBytes(get(target, `/v1/runs/${newId('run')}`)))),
    async ({ http }, bytes) => (await http.askAll(bytes, 100)).at(-1)?.status ?? '',
  ),
  'bodies that arrive byte by byte': byCallers(
    (target) => requestBytes(start(target, { inputs: { rows: manyRows(40_000) } })).subarray(0, -20_000),
    async ({ http, end }, bytes) => {
      const drip = setInterval(() => http.write(Buffer.from('1')), DRIP_MS);
      const forget = end.at(() => clearInterval(drip));
      const { status } = await http.ask(bytes);
      clearInterval(drip);
      forget();
      return status;
    },
    200,
  ),
  'streams of all events that are never read': byCallers(
    (target) => requestBytes(get(target, '/v1/events')),
    async ({ http, end }, bytes) => {
      const { status } = await http.ask(bytes);
      http.readNoMore();
      if (status === '200') await new Promise<void>((resolve) => end.at(resolve));
      return status;
    },
    300,
  ),
  'batches of starts': repeated((target) =>
    post(target, '/v1/runs/batch', {
      runs: Array.from({ length: 500 }, () => ({
        method: target.method,
        inputs: {},
        metadata: { a: 'b'.repeat(100) },
      })),
    }),
  ),
  'calls of tools with large arguments that are wrong': repeated((target) =>
    mcp(target, 'tools/call', {
      name: 'start_run',
      arguments: { method: target.method, inputs: { rows: manyRows(300_000) }, wait_ms: 0 },
    }),
  ),
  'sign-ins that are only begun': each((target) => ({ ...get(target, '/auth/login'), key: randomUUID() })),
  'junk at the port of workers, without a key': byCallers(
    () => randomBytes(48_000),
    ({ target, end }, bytes) => junkCall(target.workerAddress, bytes, end),
    8,
  ),
  'a worker of 1,000 methods that dials again and again': byCallers(
    () => null,
    ({ target, end }) => redial(target, end),
    4,
  ),
};

/** The same request again and again. */
function repeated(request: (target: AttackTarget) => RawRequest, callers?: number): Attack {
  return byCallers(
    (target) => requestBytes(request(target)),
    async ({ http }, bytes) => (await http.ask(bytes)).status,
    callers,
  );
}

/** Another request each time. */
function each(request: (target: AttackTarget) => RawRequest): Attack {
  return byCallers(
    () => null,
    async ({ target, http }) => (await http.ask(requestBytes(request(target)))).status,
  );
}

function start({ key, method }: AttackTarget, body: object, query = ''): RawRequest {
  return { method: 'POST', path: `/v1/runs${query}`, key, body: JSON.stringify({ method, inputs: {}, ...body }) };
}

function post({ key }: AttackTarget, path: string, body: object): RawRequest {
  return { method: 'POST', path, key, body: JSON.stringify(body) };
}

function mcp({ mcpToken, baseUrl }: AttackTarget, method: string, params: object): RawRequest {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return {
    ...{ method: 'POST', path: '/mcp', key: mcpToken, body, host: new URL(baseUrl).host },
    more: 'accept: application/json, text/event-stream\r\nmcp-protocol-version: 2025-06-18\r\n',
  };
}

function get({ key }: AttackTarget, path: string): RawRequest {
  return { method: 'GET', path, key };
}

function runIdOf(text: string): string | null {
  return /"run_id":"([^"]+)"/.exec(text)?.[1] ?? null;
}
