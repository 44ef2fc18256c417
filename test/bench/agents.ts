// What MCP costs beside the HTTP API: the same reads both ways, in turns on one connection each, and 1,000 idle clients
// that listen for changes, ten people with a hundred each.
import { chooseStack, fetchToken } from '@methods/local-stack/token/running-stack';
import { type Dispatcher, Pool } from 'undici';
import type { BenchStack } from './bench-stack.ts';
import { gatewayBytes, mebibytes } from './gateway-memory.ts';
import type { WorkloadResult } from './report.ts';
import { quantile } from './run-caller.ts';

const READS = 1_000;
const WARM_UP = 300;
const PEOPLE = 10;
const CLIENTS_OF_EACH = 100;
const ERA = '2026-07-28';

export async function measureAgents(stack: BenchStack, scale: number): Promise<WorkloadResult> {
  const reader = await tokensOf(stack, 'reader');
  const api = new Pool(stack.baseUrl, { connections: 1 });
  const agents = new Pool(stack.baseUrl, { connections: 1, pipelining: 1 });
  const notes: string[] = [];
  try {
    const method = stack.methods['one-step'] ?? '';
    for (const [tool, path, args] of [
      ['list_methods', '/api/methods', {}],
      ['get_method', `/api/methods/${method}`, { method_id: method }],
    ] as const) {
      const ways = [
        () => finished(api.request({ method: 'GET', path, headers: bearer(reader.machine) })),
        () => finished(agents.request(message(reader.mcp, 'tools/call', { name: tool, arguments: args }))),
      ] as const;
      const [byHttp, byMcp] = await inTurns(ways, Math.ceil(READS * scale));
      const ms = (figures: readonly number[]) => quantile(figures, 0.5);
      const more = ms(byMcp) - ms(byHttp);
      notes.push(
        `${tool}: p50 ${ms(byMcp).toFixed(2)} ms, GET ${path.split('/').slice(0, 3).join('/')} ${ms(byHttp).toFixed(2)} ms: ${more.toFixed(2)} ms more`,
      );
    }
    notes.push(await idleClients(stack, Math.ceil(CLIENTS_OF_EACH * scale)));
    return { measurements: [], notes };
  } finally {
    await Promise.all([api.destroy(), agents.destroy()]);
  }
}

async function inTurns(
  [one, other]: readonly [() => Promise<void>, () => Promise<void>],
  times: number,
): Promise<[number[], number[]]> {
  const [ones, others]: [number[], number[]] = [[], []];
  for (let n = -WARM_UP; n < times; n++) {
    const startMs = performance.now();
    await one();
    const betweenMs = performance.now();
    await other();
    if (n < 0) continue;
    ones.push(betweenMs - startMs);
    others.push(performance.now() - betweenMs);
  }
  return [ones, others];
}

async function idleClients(stack: BenchStack, ofEach: number): Promise<string> {
  const http = new Pool(stack.baseUrl, { bodyTimeout: 0, headersTimeout: 0 });
  try {
    const people = await Promise.all(Array.from({ length: PEOPLE }, (_, n) => tokensOf(stack, `agent-${n}`)));
    const listen = async ({ mcp }: Tokens) => {
      const filter = { notifications: { toolsListChanged: true, resourcesListChanged: true } };
      const { statusCode, body } = await http.request(message(mcp, 'subscriptions/listen', filter));
      if (statusCode !== 200) throw new Error(`${statusCode} ${await body.text()}`);
      body.on('error', () => {});
      await new Promise<void>((begun) => body.on('data', () => begun()));
    };
    // Compiled code and pools are not the clients' memory.
    for (const tokens of people) await listen(tokens);
    const before = await gatewayBytes(stack);
    for (const tokens of people) await Promise.all(Array.from({ length: ofEach - 1 }, () => listen(tokens)));
    const open = await gatewayBytes(stack);
    return `${PEOPLE * (ofEach - 1)} idle clients more: ${mebibytes(open - before)} of private memory more in the gateway`;
  } finally {
    await http.destroy();
  }
}

interface Tokens {
  readonly machine: string;
  readonly mcp: string;
}

async function tokensOf(stack: BenchStack, name: string): Promise<Tokens> {
  const who = { email: `${name}@example.com`, organization: 'Local', role: 'viewer' } as const;
  const token = (audience: 'machine' | 'mcp') => fetchToken(chooseStack(stack.dataDir), { ...who, audience });
  return { machine: await token('machine'), mcp: await token('mcp') };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

function message(token: string, method: string, params: object): Dispatcher.RequestOptions {
  const meta = { protocolVersion: ERA, clientInfo: { name: 'bench', version: '1' }, clientCapabilities: {} };
  const _meta = Object.fromEntries(
    Object.entries(meta).map(([field, value]) => [`io.modelcontextprotocol/${field}`, value]),
  );
  const { name } = params as { readonly name?: string };
  return {
    method: 'POST',
    path: '/mcp',
    headers: {
      ...bearer(token),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': ERA,
      'mcp-method': method,
      ...(name !== undefined && { 'mcp-name': name }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
  };
}

async function finished(reply: Promise<Dispatcher.ResponseData>): Promise<void> {
  const { statusCode, body } = await reply;
  const text = await body.text();
  if (statusCode !== 200 || text.includes('"isError":true')) throw new Error(`${statusCode} ${text.slice(0, 200)}`);
}
