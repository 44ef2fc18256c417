// Sends requests, and repeats those that failed in passing. Every request of the library is safe to repeat: it reads,
// or it has a key by which the server recognizes it.
import { setTimeout as pause } from 'node:timers/promises';
import { ConnectionError, errorOfReply, MethodsError, TimeoutError } from './errors.ts';

const PAUSE_MS = 250;
const PAUSE_MS_MAX = 8_000;
/** A server that asks for more is reported as it is. */
const RETRY_AFTER_MS_MAX = 60_000;
const PASSING: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/** Gets neither keys nor content. */
export type DebugLog = (line: string) => void;

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
}

interface Request extends RequestOptions {
  readonly verb: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  /** The server may take this long before it replies. */
  readonly waitMs?: number;
}

export interface RequestSettings {
  readonly baseUrl: string;
  /** `sk_<auth part>`. */
  readonly bearer: string;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly fetch: typeof fetch;
  readonly log: DebugLog;
}

interface Failure {
  readonly error: MethodsError;
  /** Null: a repeat would fail too. */
  readonly pauseMs: number | null;
}

export class Requests {
  constructor(private readonly settings: RequestSettings) {}

  async send<T>(request: Request): Promise<T> {
    const { verb, path, signal } = request;
    const { maxRetries, log } = this.settings;
    for (let attempt = 0; ; attempt++) {
      signal?.throwIfAborted();
      const outcome = await this.attempt(request, attempt);
      if (!('error' in outcome)) return outcome.value as T;
      const { error, pauseMs } = outcome;
      log(`${verb} ${pathOf(path)}: ${error.code}, request ${error.requestId ?? 'without a reply'}`);
      if (pauseMs === null || attempt >= maxRetries) throw error;
      await pause(pauseMs, undefined, signal === undefined ? {} : { signal });
    }
  }

  private async attempt(request: Request, attempt: number): Promise<Failure | { readonly value: unknown }> {
    const { verb, path, body, signal, waitMs = 0 } = request;
    const { baseUrl, bearer, timeoutMs } = this.settings;
    const timeout = AbortSignal.timeout(timeoutMs + waitMs);
    const headers: Record<string, string> = { authorization: `Bearer ${bearer}`, 'user-agent': USER_AGENT };
    if (body !== undefined) headers['content-type'] = 'application/json';
    let response: Response;
    let text: string;
    try {
      response = await this.settings.fetch(baseUrl + path, {
        method: verb,
        headers,
        redirect: 'error',
        signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      text = await response.text();
    } catch (cause) {
      signal?.throwIfAborted();
      return { error: withoutReply(baseUrl, cause, timeout.aborted), pauseMs: backoffMs(attempt) };
    }
    const requestId = response.headers.get('x-request-id') ?? undefined;
    const value = parsed(text);
    if (response.ok) {
      if (value !== undefined) return { value };
      const message = `The reply of ${baseUrl} is not whole, or not JSON.`;
      return {
        error: new ConnectionError('bad_reply', message, { status: response.status, requestId }),
        pauseMs: backoffMs(attempt),
      };
    }
    const error = errorOfReply(response.status, value, requestId);
    return { error, pauseMs: PASSING.has(response.status) ? pauseOf(response, attempt) : null };
  }
}

const USER_AGENT = `methods-client-node/0.1.0 node/${process.versions.node}`;

function withoutReply(baseUrl: string, cause: unknown, isLate: boolean): ConnectionError {
  if (isLate) return new TimeoutError('timeout', `${baseUrl} did not reply in time.`, { cause });
  return new ConnectionError('unreachable', `${baseUrl} cannot be reached, or ended the connection.`, { cause });
}

/** Null: the server asks for a longer pause than a call should make. */
function pauseOf(response: Response, attempt: number): number | null {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  if (!(seconds >= 0)) return backoffMs(attempt);
  return seconds * 1_000 > RETRY_AFTER_MS_MAX ? null : seconds * 1_000;
}

/** With jitter, so that many clients do not return at the same time. */
function backoffMs(attempt: number): number {
  return Math.min(PAUSE_MS_MAX, PAUSE_MS * 2 ** attempt) * (0.5 + Math.random() / 2);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Queries may hold metadata. */
function pathOf(path: string): string {
  return path.split('?', 1)[0] ?? '';
}
