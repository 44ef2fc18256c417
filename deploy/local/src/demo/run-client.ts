// The few calls of the public HTTP API that the demonstration makes.

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

  get(runId: string, query = ''): Promise<RunReply> {
    return this.call('GET', `/v1/runs/${runId}${query}`);
  }

  answer(runId: string, answer: object, questionId: string): Promise<RunReply> {
    return this.call('POST', `/v1/runs/${runId}/answer`, { answer, question_id: questionId });
  }

  private async call(method: string, path: string, body?: object): Promise<RunReply> {
    const reply = await fetch(`${this.baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.apiKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(70_000),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path} answered ${reply.status}: ${text}`);
    return JSON.parse(text) as RunReply;
  }
}
