// The calls of the public HTTP API that the demonstration makes. A busy machine answers late, or reports for a while
// that it cannot: the calls wait for both.
import { setTimeout as wait } from 'node:timers/promises';
import type { Run } from '@methods/api/run';

const PATIENCE_MS = 600_000;
const AGAIN_MS = 500;
const AGAIN = [429, 503];
const AT_REST = ['waiting', 'succeeded', 'failed', 'cancelled'];

export class RunClient {
  constructor(
    private readonly baseUrl: string,
    private readonly apiKey: string,
  ) {}

  start(body: object, query = ''): Promise<Run> {
    return this.call('POST', `/v1/runs${query}`, body);
  }

  private get(runId: string, query: string): Promise<Run> {
    return this.call('GET', `/v1/runs/${runId}${query}`);
  }

  /** Returns the run when it rests: finished, or with another question than this one. */
  async rested(run: Run, answered?: string): Promise<Run> {
    const untilMs = performance.now() + PATIENCE_MS;
    const query = `?wait_ms=15000${answered === undefined ? '' : `&after_question=${answered}`}`;
    let latest = run;
    while (!AT_REST.includes(latest.status) || (latest.status === 'waiting' && latest.question?.id === answered)) {
      if (performance.now() > untilMs) break;
      latest = await this.get(run.run_id, query);
    }
    return latest;
  }

  answer(runId: string, answer: object, questionId: string): Promise<Run> {
    return this.call('POST', `/v1/runs/${runId}/answer`, { answer, question_id: questionId });
  }

  private async call(method: string, path: string, body?: object): Promise<Run> {
    const untilMs = performance.now() + PATIENCE_MS;
    for (;;) {
      const { status, text } = await this.request(method, path, body);
      if (status < 300) return JSON.parse(text) as Run;
      if (!AGAIN.includes(status) || performance.now() > untilMs) {
        throw new Error(`${method} ${path} answered ${status}: ${text}`);
      }
      await wait(AGAIN_MS);
    }
  }

  private async request(method: string, path: string, body?: object): Promise<{ status: number; text: string }> {
    const reply = await fetch(`${this.baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.apiKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(70_000),
    });
    return { status: reply.status, text: await reply.text() };
  }
}
