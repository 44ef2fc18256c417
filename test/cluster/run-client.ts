// A client of the public HTTP API as our libraries are: every start has a key, every answer its question, and a request
// that met a broken connection or a 503 is made again until its time is up. Anything else that is not expected throws.
import { randomUUID } from 'node:crypto';
import type { Run as ApiRun } from '@methods/api/run';
import { type Dispatcher, request } from 'undici';
import type { Cluster } from './cluster.ts';

export interface Run extends Omit<ApiRun, 'result'> {
  readonly result?: Readonly<Record<string, unknown>>;
}

export interface Reply {
  readonly status: number;
  readonly run: Run;
}

const REPEAT_FOR_MS = 60_000;
const REPEAT_AFTER_MS = 50;
const TRY_MS = 15_000;
const WAIT_MS = 10_000;

export class RunClient {
  private readonly methodId: (name: string) => string;
  private readonly baseUrl: string;
  private readonly authorization: string;

  constructor(cluster: Cluster) {
    this.methodId = (name) => cluster.methodId(name);
    this.baseUrl = cluster.ready.base_url;
    this.authorization = `Bearer ${cluster.ready.api_key}`;
  }

  /** The run as it was acknowledged; with `waitMs`, which the first request waits, as it came to rest. */
  async start(method: string, inputs: object, waitMs = 0, more: object = {}): Promise<Run> {
    const body = { method: this.methodId(method), inputs, idempotency_key: randomUUID(), ...more };
    const query = waitMs === 0 ? '' : `?wait_ms=${waitMs}`;
    const { run } = await this.repeated('POST', `/v1/runs${query}`, body);
    // A busy machine may take longer than the request waits.
    return waitMs === 0 || isAtRest(run) ? run : this.rest(run.run_id);
  }

  async get(runId: string): Promise<Run> {
    return (await this.repeated('GET', `/v1/runs/${runId}`)).run;
  }

  /** Waits on the server, as often as it takes, until the run finishes or asks another question. */
  async rest(runId: string, afterQuestion?: string, withinMs = 180_000): Promise<Run> {
    const after = afterQuestion === undefined ? '' : `&after_question=${afterQuestion}`;
    const deadline = performance.now() + withinMs;
    for (;;) {
      const { run } = await this.repeated('GET', `/v1/runs/${runId}?wait_ms=${WAIT_MS}${after}`);
      if (isAtRest(run, afterQuestion)) return run;
      if (performance.now() > deadline) throw new Error(`${runId} is ${run.status} after ${withinMs} ms`);
    }
  }

  answer(runId: string, answer: object, questionId: string): Promise<Reply> {
    return this.repeated('POST', `/v1/runs/${runId}/answer`, { answer, question_id: questionId });
  }

  cancel(runId: string): Promise<Reply> {
    return this.repeated('POST', `/v1/runs/${runId}/cancel`);
  }

  private async repeated(method: 'GET' | 'POST', path: string, body?: object): Promise<Reply> {
    const deadline = performance.now() + REPEAT_FOR_MS;
    for (;;) {
      const reply = await this.once(method, path, body);
      if (reply !== null) return reply;
      if (performance.now() > deadline) throw new Error(`${method} ${path}: no reply within ${REPEAT_FOR_MS} ms`);
      await new Promise((resolve) => setTimeout(resolve, REPEAT_AFTER_MS));
    }
  }

  /** Null: broken connection or 503, to be made again. */
  private async once(method: 'GET' | 'POST', path: string, body?: object): Promise<Reply | null> {
    let reply: Dispatcher.ResponseData;
    let text: string;
    try {
      reply = await request(`${this.baseUrl}${path}`, {
        method,
        headers: { authorization: this.authorization, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(TRY_MS),
      });
      text = await reply.body.text();
    } catch {
      return null;
    }
    const { statusCode: status, headers } = reply;
    if (status === 503) {
      if (headers['retry-after'] === undefined) throw new Error(`${method} ${path}: a 503 without Retry-After`);
      return null;
    }
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text.slice(0, 300)}`);
    return { status, run: JSON.parse(text) };
  }
}

function isAtRest({ status, question }: Run, afterQuestion?: string): boolean {
  if (status === 'waiting') return question?.id !== afterQuestion;
  return status === 'succeeded' || status === 'failed' || status === 'cancelled';
}
