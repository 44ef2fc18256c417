// An application of a test: the public HTTP interface, every reply as it came.
import { until } from '../harness/until.ts';

export interface RunQuestion {
  readonly id: string;
  readonly step: string;
  readonly prompt: string;
  readonly show: readonly { readonly path: string; readonly value: unknown }[];
  readonly form: { readonly required?: readonly string[]; readonly properties: Readonly<Record<string, object>> };
  readonly asked_at: string;
  readonly deadline_at: string | null;
}

export interface RunStep {
  readonly name: string;
  readonly kind: string;
  readonly status: string;
  readonly attempt: number;
  readonly timing: { readonly started_at: string | null; readonly finished_at: string | null };
  readonly error?: {
    readonly kind: string;
    readonly message: string;
    readonly status?: number;
    readonly line?: number;
  };
}

export interface RunBody {
  readonly run_id: string;
  readonly method: string;
  readonly version_id: string;
  readonly status: string;
  readonly attempts: number;
  readonly answer_by: string;
  readonly timing: Readonly<Record<'created_at' | 'started_at' | 'waiting_since' | 'finished_at', string | null>> &
    Readonly<Record<'queued_ms' | 'running_ms' | 'waiting_ms', number>>;
  readonly cancel_requested?: boolean;
  readonly queued_reason?: string;
  readonly steps: readonly RunStep[];
  readonly question?: RunQuestion;
  readonly answers?: readonly { readonly by: unknown; readonly channel: string; readonly answer?: unknown }[];
  readonly result?: Readonly<Record<string, unknown>>;
  /** In device mode. */
  readonly result_at?: string;
  readonly run_data: string;
  readonly error?: { readonly code: string; readonly kind?: string; readonly message: string; readonly step?: string };
}

export interface RefusalBody {
  readonly error: string;
  readonly message?: string;
  readonly details?: readonly { readonly path: string; readonly code: string; readonly message: string }[];
  readonly request_id?: string;
  readonly status?: string;
}

export class Reply {
  constructor(
    readonly status: number,
    readonly headers: Headers,
    readonly text: string,
  ) {}

  /** Of a reply that succeeded. */
  get run(): RunBody {
    if (this.status >= 300) throw new Error(`${this.status}: ${this.text}`);
    return JSON.parse(this.text) as RunBody;
  }

  /** Of a reply that succeeded, as what it is said to be. */
  read<Body>(): Body {
    if (this.status >= 300) throw new Error(`${this.status}: ${this.text}`);
    return JSON.parse(this.text) as Body;
  }

  /** Of a reply that refuses. */
  get refusal(): RefusalBody {
    if (this.status < 400) throw new Error(`${this.status}: ${this.text}`);
    return JSON.parse(this.text) as RefusalBody;
  }
}

export interface RequestOptions {
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, called JSON. */
  readonly text?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

const REPLY_WITHIN_MS = 70_000;
const WAIT_MS = 20_000;

export class ApiClient {
  constructor(
    readonly baseUrl: string,
    readonly apiKey: string,
  ) {}

  async request(method: string, path: string, { body, text, headers = {} }: RequestOptions = {}): Promise<Reply> {
    const sent = text ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(this.baseUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${this.apiKey}`,
        ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(sent === undefined ? {} : { body: sent }),
      signal: AbortSignal.timeout(REPLY_WITHIN_MS),
    });
    return new Reply(response.status, response.headers, await response.text());
  }

  start(body: object, query = ''): Promise<Reply> {
    return this.request('POST', `/v1/runs${query}`, { body });
  }

  get(runId: string, query = ''): Promise<Reply> {
    return this.request('GET', `/v1/runs/${runId}${query}`);
  }

  answer(runId: string, answer: unknown, questionId?: string, query = ''): Promise<Reply> {
    const body = { answer, ...(questionId === undefined ? {} : { question_id: questionId }) };
    return this.request('POST', `/v1/runs/${runId}/answer${query}`, { body });
  }

  /** The run once it has finished or waits for the next answer. */
  async answerSettled(runId: string, answer: unknown, questionId?: string): Promise<RunBody> {
    return (await this.answer(runId, answer, questionId, `?wait_ms=${WAIT_MS}`)).run;
  }

  cancel(runId: string): Promise<Reply> {
    return this.request('POST', `/v1/runs/${runId}/cancel`);
  }

  /** The run once it has finished or waits, past the question named: on a busy machine after more than one wait. */
  async settled(runId: string, afterQuestion?: string): Promise<RunBody> {
    const after = afterQuestion === undefined ? '' : `&after_question=${afterQuestion}`;
    return await until(`${runId} is settled`, async () => {
      const { run } = await this.get(runId, `?wait_ms=${WAIT_MS}${after}`);
      return isSettled(run, afterQuestion) && run;
    });
  }

  /** A new run, once it has finished or waits. */
  async startSettled(body: object): Promise<RunBody> {
    const { run } = await this.start(body, `?wait_ms=${WAIT_MS}`);
    return isSettled(run) ? run : await this.settled(run.run_id);
  }

  /** The same service as another caller. */
  as(apiKey: string): ApiClient {
    return new ApiClient(this.baseUrl, apiKey);
  }

  /** The same caller at another gateway. */
  at(baseUrl: string): ApiClient {
    return new ApiClient(baseUrl, this.apiKey);
  }
}

function isSettled({ status, question }: RunBody, afterQuestion?: string): boolean {
  return status !== 'queued' && status !== 'running' && (status !== 'waiting' || question?.id !== afterQuestion);
}
