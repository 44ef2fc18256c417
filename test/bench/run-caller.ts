// A caller in the bench's own process: runs started and awaited over HTTP, each request once.
import type { Run } from '@methods/api/run';
import { Pool } from 'undici';
import type { BenchStack } from './bench-stack.ts';

export type CalledRun = Pick<Run, 'run_id' | 'status'>;

export class RunCaller {
  private readonly pool: Pool;

  constructor(
    private readonly stack: Pick<BenchStack, 'baseUrl' | 'apiKey' | 'methods'>,
    connections: number,
  ) {
    this.pool = new Pool(stack.baseUrl, { connections, pipelining: 1 });
  }

  /** How long a run of one step took. */
  async runOne(method = 'one-step'): Promise<number> {
    const startedMs = performance.now();
    const { status } = await this.post(method, '?wait_ms=30000');
    if (status !== 'succeeded') throw new Error(`a run is ${status}`);
    return performance.now() - startedMs;
  }

  async start(method: string): Promise<string> {
    return (await this.post(method, '')).run_id;
  }

  close(): Promise<void> {
    return this.pool.close();
  }

  /** @param name of a method of the bench, or its production id */
  async post(name: string, query: string, more: object = {}): Promise<CalledRun> {
    const { apiKey, methods } = this.stack;
    const { statusCode, body } = await this.pool.request({
      method: 'POST',
      path: `/v1/runs${query}`,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({ method: methods[name] ?? name, inputs: { n: 1 }, ...more }),
    });
    const text = await body.text();
    if (statusCode >= 300) throw new Error(`${statusCode} ${text.slice(0, 200)}`);
    return JSON.parse(text) as CalledRun;
  }
}

/** The value below which this share of the figures is. */
export function quantile(figures: readonly number[], share: number): number {
  const sorted = figures.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
