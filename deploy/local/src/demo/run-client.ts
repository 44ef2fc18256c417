// The few calls of the public HTTP API that the demonstration makes. A busy machine answers late, or says for a while
// that it cannot: both are waited for.
import { setTimeout as wait } from 'node:timers/promises';

const PATIENCE_MS = 600_000;
const AGAIN_MS = 500;
const AGAIN = [429, 503];
const AT_REST = ['waiting', 'succeeded', 'failed', 'cancelled'];

export interface RunReply {
  readonly run_id: string;
  readonly version_id: string;
  readonly status: string;
  readonly attempts: number;
  readonly timing: {
    readonly created_at: string;
    readonly queued_ms: number;
    readonly running_ms: number;
    readonly waiting_ms: number;
  };
  readonly steps: readonly {
    readonly name: string;
    readonly kind: string;
    readonly status: string;
    readonly timing: { readonly running_ms: number | null };
  }[];
  readonly question?: { readonly id: string; readonly prompt: string };
  readonly result?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
}

export class RunClient {
  constructor(
    private readonly baseUrl: string,
    private readonly apiKey: string,
  ) {}

  start(body: object, query = ''): Promise<RunReply> {
    return this.call('POST', `/v1/runs${query}`, body);
  }

  private get(runId: string, query: string): Promise<RunReply> {
    return this.call('GET', `/v1/runs/${runId}${query}`);
  }

  /** The run as it rests: finished, or with a question other than this one. */
  async rested(run: RunReply, answered?: string): Promise<RunReply> {
    const untilMs = performance.now() + PATIENCE_MS;
    const query = `?wait_ms=15000${answered === undefined ? '' : `&after_question=${answered}`}`;
    let latest = run;
    while (!AT_REST.includes(latest.status) || (latest.status === 'waiting' && latest.question?.id === answered)) {
      if (performance.now() > untilMs) break;
      latest = await this.get(run.run_id, query);
    }
    return latest;
  }

  answer(runId: string, answer: object, questionId: string): Promise<RunReply> {
    return this.call('POST', `/v1/runs/${runId}/answer`, { answer, question_id: questionId });
  }

  private async call(method: string, path: string, body?: object): Promise<RunReply> {
    const untilMs = performance.now() + PATIENCE_MS;
    for (;;) {
      const { status, text } = await this.request(method, path, body);
      if (status < 300) return JSON.parse(text) as RunReply;
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
