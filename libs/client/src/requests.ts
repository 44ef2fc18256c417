// Sends requests, and repeats those that failed in passing. Every request of the library is safe to repeat: it reads,
// or it has a key by which the server recognizes it.
import type { Credential } from './credential.ts';
import { AuthenticationError, ConnectionError, errorOfReply, MethodsError, unexpectedReply } from './errors.ts';
import { type Bytes, Exchange, isStream } from './exchange.ts';
import { OUTAGE_MS_MAX, pause, pauseMsAfter, retryAfterMs } from './pauses.ts';
import { Places } from './places.ts';

/** Requests at a time: a connection each. Those that wait at the server, and streams, are counted by their callers. */
const PLACES = 8;
/** A request that waited this long had reached the server. */
const REACHED_MS = 1_000;
const USER_AGENT = `methods-client-node/0.1.0 node/${process.versions.node}`;

/** Gets neither keys nor content. */
export type DebugLog = (line: string) => void;

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
}

interface Request extends RequestOptions {
  readonly verb: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is. A stream cannot be sent twice, so its request is not repeated; a function makes one for each try. */
  readonly content?: Bytes | (() => Bytes);
  readonly headers?: Readonly<Record<string, string>>;
  /** The server may take this long before it replies. */
  readonly waitMs?: number;
  /** Default: the client's. */
  readonly maxRetries?: number;
  /** Its run has started: it is repeated for a minute, unless the client repeats nothing. */
  readonly isUnderway?: boolean;
}

interface JsonRequest<T> extends Request {
  /** Whether a reply is one that this version knows. */
  readonly is: (value: unknown) => value is T;
}

export interface RequestSettings {
  readonly baseUrl: string;
  readonly credential: Credential;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly fetch: typeof fetch;
  readonly log: DebugLog;
}

/** The token of one attempt: a refusal counts for it. */
interface Presented {
  bearer: string;
}

export class Requests {
  private readonly places = new Places(PLACES);

  constructor(readonly settings: RequestSettings) {}

  /** @throws MethodsError; the reason of the signal */
  send<T>(request: JsonRequest<T>): Promise<T> {
    const { waitMs = 0, signal } = request;
    const { timeoutMs } = this.settings;
    return this.repeated(request, async (presented) => {
      const work = async () => {
        const exchange = await this.attempt(request, timeoutMs + waitMs, presented);
        return { exchange, text: await exchange.text() };
      };
      const { exchange, text } = await (waitMs > 0 ? work() : this.places.in(work, signal));
      const { status, headers } = exchange.response;
      const requestId = headers.get('x-request-id') ?? undefined;
      const value = text === '' ? null : parsed(text);
      // What begins as JSON was cut.
      if (value === undefined && /^[[{]/.test(text)) {
        throw new ConnectionError('bad_reply', 'The reply was cut: it is not whole.', { status, requestId });
      }
      if (!request.is(value)) throw unexpectedReply(status, requestId);
      return value;
    });
  }

  /** The reply as it arrives. @throws as `send` */
  open(request: Request): Promise<Exchange> {
    return this.repeated(request, (presented) => this.attempt(request, this.settings.timeoutMs, presented));
  }

  private async repeated<T>(request: Request, once: (presented: Presented) => Promise<T>): Promise<T> {
    const { credential } = this.settings;
    const { content, signal, waitMs = 0, maxRetries = this.settings.maxRetries } = request;
    let { isUnderway = false } = request;
    let renewed = false;
    let failingSinceMs: number | null = null;
    for (let attempt = 0; ; attempt++) {
      signal?.throwIfAborted();
      const beganMs = performance.now();
      const presented = { bearer: '' };
      try {
        return await once(presented);
      } catch (error) {
        if (!(error instanceof MethodsError) || isStream(content)) throw error;
        let fault: MethodsError = error;
        if (error instanceof AuthenticationError && !renewed) {
          const outcome = await renewalBy(credential, presented.bearer);
          if (outcome instanceof MethodsError) fault = outcome;
          renewed = outcome === true;
          if (renewed) continue;
        }
        const nowMs = performance.now();
        failingSinceMs ??= nowMs;
        isUnderway ||= waitMs > 0 && nowMs - beganMs >= REACHED_MS;
        const outlasts = isUnderway && maxRetries > 0 && nowMs - failingSinceMs < OUTAGE_MS_MAX;
        const pauseMs = pauseMsAfter(fault, attempt);
        if (pauseMs === null || (attempt >= maxRetries && !outlasts)) throw fault;
        await pause(pauseMs, signal);
      }
    }
  }

  /** @throws MethodsError */
  private async attempt(request: Request, timeoutMs: number, presented: Presented): Promise<Exchange> {
    const { verb, path, body, signal } = request;
    const { baseUrl, credential, log } = this.settings;
    presented.bearer = await credential.bearer();
    const headers: Record<string, string> = {
      authorization: `Bearer ${presented.bearer}`,
      'user-agent': USER_AGENT,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...request.headers,
    };
    const given = typeof request.content === 'function' ? request.content() : request.content;
    const content = body === undefined ? given : JSON.stringify(body);
    const beganMs = performance.now();
    const took = () => `${Math.round(performance.now() - beganMs)} ms`;
    let exchange: Exchange;
    try {
      exchange = await Exchange.begin(
        { verb, url: baseUrl + path, headers, content, signal, timeoutMs },
        this.settings.fetch,
      );
    } catch (error) {
      if (error instanceof MethodsError) log(`${verb} ${pathOf(path)}: ${error.code} after ${took()}`);
      throw error;
    }
    const { response } = exchange;
    const requestId = response.headers.get('x-request-id') ?? undefined;
    log(`${verb} ${pathOf(path)}: ${response.status} after ${took()}, request ${requestId ?? 'without an id'}`);
    if (response.ok) return exchange;
    const retryAfter = retryAfterMs(response.headers.get('retry-after'));
    throw errorOfReply(response.status, parsed(await exchange.text()), { requestId, retryAfterMs: retryAfter });
  }
}

/** An issuer that cannot be reached may be a moment later: its fault is that of the request. */
async function renewalBy(credential: Credential, refused: string): Promise<boolean | MethodsError> {
  try {
    return (await credential.renew?.(refused)) ?? false;
  } catch (error) {
    if (error instanceof MethodsError) return error;
    throw error;
  }
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
