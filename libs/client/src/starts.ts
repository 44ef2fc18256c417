// Starts of runs: one, or many in a request.
import { randomUUID } from 'node:crypto';
import { ConfigurationError, errorOfReply, MethodsError } from './errors.ts';
import type { InputsOf, MethodName } from './method-types.ts';
import { pause, pauseMsAfter } from './pauses.ts';
import type { RequestOptions, Requests } from './requests.ts';
import { isStarted, type StartedRun } from './run.ts';

/** Of a request. */
const RUNS_MAX = 1_000;
const BODY_BYTES_MAX = 4 * 1024 * 1024 - 1_024;

export interface Start<M extends MethodName = string> {
  readonly method: M;
  /** JSON; default: none. */
  readonly inputs?: InputsOf<M>;
  /** Default: one of its own for each call, kept over its retries. */
  readonly idempotencyKey?: string;
  /** A version id; default: the published version. */
  readonly version?: string;
  readonly webhookUrl?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Of one start of many. `error`: this start was refused; the others were not affected. */
export type StartOutcome =
  | { readonly run: StartedRun; readonly error?: undefined }
  | { readonly run?: undefined; readonly error: MethodsError };

export type StartBody = Readonly<Record<string, unknown>>;

/** The body of a start, the same for all its retries. @throws ConfigurationError */
export function startBody(start: Start, { isKey }: { readonly isKey: boolean }): StartBody {
  const { method, inputs, version, webhookUrl, metadata, idempotencyKey = randomUUID() } = start;
  if (webhookUrl !== undefined && !isKey) {
    const message =
      'A webhook needs a service key, and this client uses the sign-in of the command line. Set SERVICE_API_KEY; ' +
      '`methods connect` makes a key.';
    throw new ConfigurationError('webhook_needs_key', message);
  }
  return { method, inputs, version, webhook_url: webhookUrl, metadata, idempotency_key: idempotencyKey };
}

/**
 * In as few requests as their sizes allow. The outcomes are in the order of the starts. A request that fails after
 * another was replied to is the outcome of its starts and of those after it: a caller who had no outcomes, and started
 * all again, would start some runs twice. @throws MethodsError of the first request; the reason of the signal
 */
export async function startMany(
  requests: Requests,
  bodies: readonly StartBody[],
  { signal }: RequestOptions,
): Promise<StartOutcome[]> {
  const outcomes = new Array<StartOutcome>(bodies.length);
  let left = bodies.map((body, at) => ({ at, json: JSON.stringify(body) }));
  let isKnown = false;
  let fault: MethodsError | null = null;
  let attempt = 0;
  while (left.length > 0) {
    const again: typeof left = [];
    let pauseMs = 0;
    for (const part of partsOf(left)) {
      try {
        if (fault !== null) throw fault;
        const replied = await startPart(requests, part, signal);
        isKnown = true;
        part.forEach((start, n) => {
          const outcome = outcomeOf(replied[n]);
          outcomes[start.at] = outcome;
          const after = outcome.error === undefined ? null : pauseMsAfter(outcome.error, attempt);
          if (after === null || attempt >= requests.settings.maxRetries) return;
          again.push(start);
          pauseMs = Math.max(pauseMs, after);
        });
      } catch (error) {
        if (!isKnown || !(error instanceof MethodsError)) throw error;
        fault = error;
        for (const { at } of part) outcomes[at] = { error };
      }
    }
    // Under a rate limit each request starts a part of them.
    attempt = again.length < left.length ? 0 : attempt + 1;
    left = fault === null ? again : [];
    if (left.length > 0) await pause(pauseMs, signal);
  }
  return outcomes;
}

async function startPart(
  requests: Requests,
  part: readonly { readonly json: string }[],
  signal: AbortSignal | undefined,
): Promise<readonly unknown[]> {
  const content = Buffer.from(`{"runs":[${part.map(({ json }) => json).join(',')}]}`);
  const headers = { 'content-type': 'application/json' };
  const request = { verb: 'POST', path: '/v1/runs/batch', content, headers, signal, is: isBatch } as const;
  return (await requests.send(request)).items;
}

function* partsOf<T extends { readonly json: string }>(starts: readonly T[]): Generator<T[]> {
  let part: T[] = [];
  let bytes = 0;
  for (const start of starts) {
    const size = Buffer.byteLength(start.json) + 1;
    if (part.length === RUNS_MAX || (part.length > 0 && bytes + size > BODY_BYTES_MAX)) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(start);
    bytes += size;
  }
  if (part.length > 0) yield part;
}

interface Batch {
  readonly items: readonly unknown[];
}

function isBatch(value: unknown): value is Batch {
  return Array.isArray((Object(value) as Partial<Batch>).items);
}

function outcomeOf(item: unknown): StartOutcome {
  const { status, run, error, retry_after: retryAfterS } = Object(item) as Record<string, unknown>;
  if (isStarted(run)) return { run };
  const { request_id: id } = Object(error) as Record<string, unknown>;
  const requestId = typeof id === 'string' ? id : undefined;
  const retryAfterMs = typeof retryAfterS === 'number' ? retryAfterS * 1_000 : undefined;
  return { error: errorOfReply(typeof status === 'number' ? status : 0, error, { requestId, retryAfterMs }) };
}
