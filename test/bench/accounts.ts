// The side of people and their programs: versions and lists read over HTTP with an access token, and what it adds to a
// request that its token or key is looked at.
import { randomUUID } from 'node:crypto';
import { chooseStack, fetchToken } from '@methods/local-stack/token/running-stack';
import { Pool } from 'undici';
import type { BenchStack } from './bench-stack.ts';
import { type Measurement, measure } from './measure.ts';
import type { WorkloadResult } from './report.ts';

const METHODS = 10_000;
const CREATED_AT_ONCE = 16;
const ROUNDS = 5;

/** `scale` counts requests; there are always as many methods. */
export async function measureAccounts(stack: BenchStack, scale: number): Promise<WorkloadResult> {
  const who = { email: 'bench@example.com', organization: 'Local', role: 'admin', audience: 'machine' } as const;
  const token = await fetchToken(chooseStack(stack.dataDir), who);
  const read = (name: string, path: string, concurrency = 1) =>
    measure(stack, name, {
      ...{ pattern: 'read' as const, path, status: 200, credential: token, concurrency },
      runs: Math.ceil((concurrency === 1 ? 1_000 : 4_000) * scale),
    });
  const http = new Pool(stack.baseUrl, { connections: CREATED_AT_ONCE });
  const made = await createMethods(http, token);
  const middle = await middlePage(http, token);
  await http.close();
  const version = `/api/methods/${made.id}/versions/${made.current_version}`;
  await read('warm-up', version, 16);
  return {
    measurements: [
      await read('a version', version),
      await read('a version', version, 16),
      await read('a version, as the CLI', `/api/cli/methods/${made.id}`),
      await read('methods, first page', '/api/methods'),
      await read('methods, first page of 200', '/api/methods?limit=200'),
      await read('methods, page in the middle', `/api/methods?cursor=${encodeURIComponent(middle)}`),
      await read('methods, search', '/api/methods?q=number%2099'),
    ],
    notes: await verification(stack, token, scale),
  };
}

interface MadeMethod {
  readonly id: string;
  readonly current_version: string;
}

async function createMethods(http: Pool, token: string): Promise<MadeMethod> {
  let next = 0;
  let last: MadeMethod | undefined;
  const create = async () => {
    while (next < METHODS) {
      const n = next++;
      const source = `format: method/2\nname: bench-${n}\nsteps:\n  - name: one\n    node: |\n      return { n: ${n} };\n    out: { n: integer }\n`;
      const body = JSON.stringify({ idempotency_key: randomUUID(), display_name: `Method number ${n}`, source });
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const reply = await http.request({ method: 'POST', path: '/api/methods', headers, body });
      const text = await reply.body.text();
      if (reply.statusCode !== 201) throw new Error(`${reply.statusCode} ${text.slice(0, 200)}`);
      last = (JSON.parse(text) as { method: MadeMethod }).method;
    }
  };
  await Promise.all(Array.from({ length: CREATED_AT_ONCE }, create));
  if (last === undefined) throw new Error('no method was made');
  return last;
}

/** The cursor of a page with as many methods before it as behind it. */
async function middlePage(http: Pool, token: string): Promise<string> {
  let cursor = '';
  for (let seen = 0; seen < METHODS / 2; seen += 200) {
    const path = `/api/methods?limit=200${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`;
    const reply = await http.request({ method: 'GET', path, headers: { authorization: `Bearer ${token}` } });
    cursor = ((await reply.body.json()) as { next_cursor: string }).next_cursor;
  }
  return cursor;
}

/** Three requests that all end in the same 404 before anything is looked up: without a credential, with a key, a token. */
async function verification(stack: BenchStack, token: string, scale: number): Promise<string[]> {
  const rounds: Record<'nothing' | 'key' | 'token', Measurement>[] = [];
  const runs = Math.ceil(1_000 * scale);
  const order = { pattern: 'read', status: 404, concurrency: 1, runs } as const;
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({
      nothing: await measure(stack, 'nothing', { ...order, path: '/v2/runs/none', credential: '' }),
      key: await measure(stack, 'key', { ...order, path: '/v1/runs/none' }),
      token: await measure(stack, 'token', { ...order, path: '/api/runs/none', credential: token }),
    });
  }
  return (['key', 'token'] as const).map((kind) => {
    const added = (of: (row: Measurement) => number) => median(rounds.map((row) => of(row[kind]) - of(row.nothing)));
    const cpuMs = added((row) => row.cpuPerThousand['gateway-1'] ?? 0);
    return `a ${kind} that is known adds ${added(({ p50Ms }) => p50Ms).toFixed(3)} ms to a request (CPU of the gateway: ${cpuMs.toFixed(3)} ms)`;
  });
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
