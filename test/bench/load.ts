// The load process: a closed loop of a given number of callers over HTTP, configured by one JSON argument. Prints one
// JSON line with every latency.
import { randomUUID } from 'node:crypto';
import { setPriority } from 'node:os';
import { Pool } from 'undici';

interface AnyOrder {
  readonly baseUrl: string;
  /** A service key or an access token; empty for none. */
  readonly credential: string;
  readonly concurrency: number;
  readonly runs: number;
  /** Priority of the load process, as of `nice`: callers are on other machines. */
  readonly nice?: number;
}

interface RunOrder extends AnyOrder {
  readonly pattern: 'post-wait' | 'post-then-get' | 'wait-and-answer' | 'answer-and-wait' | 'start-only';
  readonly method: string;
}

/** One request starts `size` runs, each with a key of its own; a latency is that of a request. */
interface BatchOrder extends AnyOrder {
  readonly pattern: 'batch';
  readonly method: string;
  readonly size: number;
}

/** One run is one GET. */
interface ReadOrder extends AnyOrder {
  readonly pattern: 'read';
  readonly path: string;
  /** The only status that counts as done. */
  readonly status: number;
}

export type LoadOrder = RunOrder | BatchOrder | ReadOrder;

export interface LoadReport {
  readonly seconds: number;
  readonly failed: number;
  readonly firstFailure: string | null;
  readonly latenciesMs: readonly number[];
  /** CPU of this process over the loop, without its start. */
  readonly cpuS: number;
}

interface Reply {
  readonly run_id: string;
  readonly status: string;
  readonly question?: { readonly id: string };
}

const order = JSON.parse(process.argv[2] ?? '{}') as LoadOrder;
if (order.nice !== undefined) setPriority(order.nice);
const pool = new Pool(order.baseUrl, { connections: order.concurrency, pipelining: 1 });
const headers = {
  'content-type': 'application/json',
  ...(order.credential === '' ? {} : { authorization: `Bearer ${order.credential}` }),
};
const ofThisLoad = randomUUID();
let next = 0;
let failed = 0;
let firstFailure: string | null = null;
const latenciesMs: number[] = [];

async function call<T = Reply>(method: 'GET' | 'POST', path: string, body?: string): Promise<T> {
  const { statusCode, body: reply } = await pool.request({
    method,
    path,
    headers,
    ...(body === undefined ? {} : { body }),
  });
  const text = await reply.text();
  if (statusCode >= 300) throw new Error(`${statusCode} ${text.slice(0, 200)}`);
  return JSON.parse(text) as T;
}

async function read({ path, status }: ReadOrder): Promise<void> {
  const { statusCode, body } = await pool.request({ method: 'GET', path, headers });
  const text = await body.text();
  if (statusCode !== status) throw new Error(`${statusCode} ${text.slice(0, 200)}`);
}

async function startBatch({ method, size }: BatchOrder, n: number): Promise<void> {
  const runs = Array.from({ length: size }, (_, i) => ({
    method,
    inputs: { n: n + i },
    idempotency_key: `${ofThisLoad}-${n + i}`,
  }));
  const { items } = await call<{ items: { status: number }[] }>('POST', '/v1/runs/batch', JSON.stringify({ runs }));
  const other = items.find(({ status }) => status !== 201);
  if (other !== undefined || items.length !== size) throw new Error(`a start of the batch is ${JSON.stringify(other)}`);
}

async function one(n: number): Promise<void> {
  if (order.pattern === 'read') return read(order);
  if (order.pattern === 'batch') return startBatch(order, n);
  const body = JSON.stringify({ method: order.method, inputs: { n } });
  switch (order.pattern) {
    case 'post-wait':
      return expect(await call('POST', '/v1/runs?wait_ms=30000', body), 'succeeded');
    case 'post-then-get': {
      const { run_id } = await call('POST', '/v1/runs', body);
      return expect(await call('GET', `/v1/runs/${run_id}?wait_ms=30000`), 'succeeded');
    }
    case 'wait-and-answer':
    case 'answer-and-wait': {
      const asked = await call('POST', '/v1/runs?wait_ms=30000', body);
      const question = asked.question?.id ?? '';
      const path = `/v1/runs/${asked.run_id}/answer`;
      const answer = JSON.stringify({ answer: { ok: true }, question_id: question });
      if (order.pattern === 'answer-and-wait') {
        return expect(await call('POST', `${path}?wait_ms=30000`, answer), 'succeeded');
      }
      await call('POST', path, answer);
      const end = await call('GET', `/v1/runs/${asked.run_id}?wait_ms=30000&after_question=${question}`);
      return expect(end, 'succeeded');
    }
    case 'start-only':
      return expect(await call('POST', '/v1/runs', body), 'queued');
  }
}

function expect(reply: Reply, status: string): void {
  if (reply.status !== status) throw new Error(`${reply.run_id} is ${reply.status}`);
}

async function caller(): Promise<void> {
  while (next < order.runs) {
    const n = next;
    next += order.pattern === 'batch' ? order.size : 1;
    const startedMs = performance.now();
    try {
      await one(n);
      latenciesMs.push(performance.now() - startedMs);
    } catch (error) {
      failed++;
      firstFailure ??= String(error);
    }
  }
}

const startedMs = performance.now();
const before = process.cpuUsage();
await Promise.all(Array.from({ length: order.concurrency }, caller));
const used = process.cpuUsage(before);
const cpuS = (used.user + used.system) / 1e6;
const report: LoadReport = { cpuS, seconds: (performance.now() - startedMs) / 1000, failed, firstFailure, latenciesMs };
process.stdout.write(`${JSON.stringify(report)}\n`);
await pool.close();
