// One request to a server: its bounds in time and size, and its repeats while the server is busy; redirects are not
// followed.
import { setTimeout } from 'node:timers/promises';
import { withTimeLimit } from '@methods/base/time-limit';
import { CommandError } from '../errors/command-error.ts';
import { connectionFault } from './server-refusal.ts';

const REQUEST_TIME_MS = 30_000;
/** The largest run of the service is smaller. */
const BODY_BYTES_MAX = 64 * 1024 * 1024;

export interface ServerRequest {
  readonly verb?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, in place of a body; opened again for each request. */
  readonly content?: () => ReadableStream;
  readonly signal: AbortSignal;
  /** For the whole answer; null for one that does not end by itself. */
  readonly timeMs?: number | null;
}

/** `path` starts with a slash. @throws CommandError `unreachable`, `bad_certificate`, `moved`. */
export async function requestServer(baseUrl: string, path: string, request: ServerRequest): Promise<Response> {
  const { verb = 'GET', headers = {}, body, content, signal, timeMs = REQUEST_TIME_MS } = request;
  const what = `the server at ${baseUrl}`;
  let response: Response;
  try {
    response = await fetch(baseUrl + path, {
      method: verb,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(content === undefined ? {} : { body: content(), duplex: 'half' }),
      signal: timeMs === null ? signal : withTimeLimit(signal, timeMs),
      // A credential must go only where the user sent it, and a POST that a redirect turns into a GET does nothing.
      redirect: 'manual',
    } as RequestInit);
  } catch (error) {
    if (signal.aborted) throw error;
    throw connectionFault(what, error);
  }
  if (response.status < 300 || response.status > 399 || response.status === 304) return response;
  const target = response.headers.get('location') ?? '';
  const origin = URL.canParse(target, baseUrl) ? new URL(target, baseUrl).origin : null;
  const hint = origin === null || origin === baseUrl ? undefined : `methods … --server ${origin}`;
  throw new CommandError('moved', `${what} sends this request elsewhere`, { hint });
}

/** How long a busy server is asked again before its reply counts. */
const PATIENCE_MS = 10_000;
const PAUSE_MS_MIN = 250;

/** Makes a request, and repeats it while its server says when: only for one whose repeat is harmless. */
export async function whileBusy(ask: () => Promise<Response>, signal: AbortSignal): Promise<Response> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const response = await ask();
    const pauseMs = busyMs(response);
    if (pauseMs === null || performance.now() + pauseMs > deadlineMs) return response;
    await response.body?.cancel();
    await setTimeout(pauseMs, undefined, { signal });
  }
}

/** How long to wait for a busy server; null: it is not busy, or does not say. The header has seconds or a date. */
function busyMs({ status, headers }: Response): number | null {
  const after = headers.get('retry-after');
  if ((status !== 503 && status !== 429) || after === null) return null;
  const ms = /^\d+$/.test(after) ? Number(after) * 1_000 : Date.parse(after) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(ms, PAUSE_MS_MIN);
}

/** @throws CommandError `unreachable` when it breaks, `too_large`, `bad_reply` when it is not JSON. */
export async function readJson(response: Response): Promise<unknown> {
  const text = await readText(response);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new CommandError('bad_reply', `${response.url} answered ${response.status} with something that is not JSON`, {
      hint: 'is there a proxy in between?',
    });
  }
}

async function readText(response: Response): Promise<string> {
  if (response.body === null) return '';
  const parts: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const part of response.body) {
      bytes += part.byteLength;
      if (bytes > BODY_BYTES_MAX) break;
      parts.push(part);
    }
  } catch (error) {
    throw connectionFault(response.url, error);
  }
  if (bytes > BODY_BYTES_MAX) throw new CommandError('too_large', `${response.url} answered more than 64 MiB`);
  return Buffer.concat(parts).toString('utf8');
}
