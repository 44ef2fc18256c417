// A client that tries every gateway: what meets a broken connection or a 503 is sent again, elsewhere, until it gets a
// reply. Every reply that counts becomes an operation of the history.
import type { Operation, SeenRun } from './history.ts';
import type { Random } from './random.ts';

/** Longer than any fault lasts: a request without a reply after this time has met more than a fault. */
const REPEAT_FOR_MS = 90_000;
const REPEAT_AFTER_MS = 100;
const TRY_MS = 12_000;
/** Refusals that a client of these tests may meet: an answer or a cancel that came too late. */
const LATE = new Set(['run_finished', 'run_not_waiting', 'question_changed']);

interface RunBody {
  readonly run_id: string;
  readonly status: string;
  readonly attempts?: number;
  readonly result?: unknown;
  readonly error?: { readonly code: string };
  readonly question?: { readonly id: string };
}

export class ChaosClient {
  constructor(
    private readonly gateways: readonly string[],
    private readonly apiKey: string,
    private readonly random: Random,
  ) {}

  start(body: object, waitMs: number): Promise<Operation> {
    return this.operation('start', 'POST', `/v1/runs?wait_ms=${waitMs}`, body);
  }

  read(runId: string, waitMs: number, gateway?: string): Promise<Operation> {
    return this.operation('read', 'GET', `/v1/runs/${runId}?wait_ms=${waitMs}`, undefined, gateway);
  }

  answer(runId: string, answer: object, questionId: string): Promise<Operation> {
    return this.operation('answer', 'POST', `/v1/runs/${runId}/answer`, { answer, question_id: questionId });
  }

  cancel(runId: string): Promise<Operation> {
    return this.operation('cancel', 'POST', `/v1/runs/${runId}/cancel`);
  }

  /** @throws Error with a sentence when no reply came in time, or one that no client may see. */
  private async operation(
    kind: Operation['kind'],
    method: string,
    path: string,
    body?: object,
    gateway?: string,
  ): Promise<Operation> {
    const invokedMs = performance.now();
    for (;;) {
      const reply = await this.once(gateway ?? this.random.pick(this.gateways), method, path, body);
      if (reply !== null) {
        return { kind, invokedMs, repliedMs: performance.now(), httpStatus: reply.status, run: reply.run };
      }
      if (performance.now() - invokedMs > REPEAT_FOR_MS) {
        throw new Error(`${method} ${path} got no reply within ${REPEAT_FOR_MS / 1_000} s`);
      }
      await new Promise((resolve) => setTimeout(resolve, REPEAT_AFTER_MS));
    }
  }

  /** Null: a broken connection or a 503. */
  private async once(
    gateway: string,
    method: string,
    path: string,
    body?: object,
  ): Promise<{ status: number; run: SeenRun | null } | null> {
    let response: Response;
    let text: string;
    try {
      response = await fetch(gateway + path, {
        method,
        headers: { authorization: `Bearer ${this.apiKey}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(TRY_MS),
      });
      text = await response.text();
    } catch {
      return null;
    }
    const { status } = response;
    if (status === 503) {
      if (!response.headers.has('retry-after')) throw new Error(`${method} ${path}: a 503 without Retry-After`);
      return null;
    }
    if (response.ok) return { status, run: seen(JSON.parse(text)) };
    if (status === 409 && LATE.has(JSON.parse(text).error)) return { status, run: null };
    throw new Error(`${method} ${path}: ${status} ${text.slice(0, 300)}`);
  }
}

function seen({ run_id, status, attempts = 0, result, error, question }: RunBody): SeenRun {
  return {
    runId: run_id,
    status,
    attempts,
    result: result === undefined ? null : JSON.stringify(result),
    errorCode: error?.code ?? null,
    questionId: question?.id ?? null,
  };
}
