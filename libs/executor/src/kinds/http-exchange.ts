// Sends a request and follows its redirects. Credentials are sent only to the origin they were declared for: a server
// that redirects elsewhere must not be able to collect them.

import type { Mask } from '../secrets/mask.ts';
import { StepFailure } from '../step-failure.ts';
import { type HttpRequest, urlOf } from './http-request.ts';

const REDIRECTS_MAX = 5;
const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);

/** Returns the first response that is not a redirect, its body unread. Throws StepFailure of kind network or http. */
export async function exchange(
  request: HttpRequest,
  send: typeof fetch,
  signal: AbortSignal,
  mask: Mask,
): Promise<Response> {
  let current = request;
  for (let redirects = 0; ; redirects++) {
    const response = await sendOnce(current, send, signal);
    const location = REDIRECT_STATUSES.has(response.status) ? response.headers.get('location') : null;
    if (location === null) return response;
    await response.body?.cancel();
    if (redirects === REDIRECTS_MAX) throw new StepFailure('http', `More than ${REDIRECTS_MAX} redirects`);
    current = redirected(current, response.status, location, mask);
  }
}

async function sendOnce(request: HttpRequest, send: typeof fetch, signal: AbortSignal): Promise<Response> {
  const { method, url, headers, body } = request;
  const init: RequestInit = { method, headers, redirect: 'manual', signal };
  if (body?.kind === 'text') init.body = body.text;
  if (body?.kind === 'file') Object.assign(init, { body: body.open(), duplex: 'half' });
  try {
    return await send(url, init);
  } catch (error) {
    throw networkFailure(error);
  }
}

/** A fault below HTTP. Only the system's code is kept, since its message contains addresses and names. */
export function networkFailure(error: unknown): StepFailure {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = (cause as NodeJS.ErrnoException | null)?.code;
  if (typeof code !== 'string') return new StepFailure('network', 'The connection failed');
  return new StepFailure('network', `The connection failed (${code})`, { code });
}

function redirected(request: HttpRequest, status: number, location: string, mask: Mask): HttpRequest {
  const url = urlOf(location, request.url);
  if (request.url.protocol === 'https:' && url.protocol === 'http:') {
    throw new StepFailure('http', 'A redirect leads from https to http');
  }
  const headers = new Headers(request.headers);
  const dropsBody = becomesGet(request.method, status);
  if (dropsBody) for (const name of ['content-type', 'content-length', 'idempotency-key']) headers.delete(name);
  const body = dropsBody ? null : request.body;
  if (url.origin !== request.url.origin) {
    for (const [name, value] of request.headers) {
      if (request.credentialHeaders.has(name) || mask.finds(value) !== null) headers.delete(name);
    }
    if (body?.kind === 'text' && mask.finds(body.text) !== null) {
      throw new StepFailure('http', 'A redirect to another origin would carry a secret');
    }
  }
  return { ...request, url, headers, body, method: dropsBody ? 'GET' : request.method };
}

/** RFC 9110 section 15.4: 303 always requires a GET; 301 and 302 do so for POST by convention. */
function becomesGet(method: string, status: number): boolean {
  if (status === 303) return method !== 'GET' && method !== 'HEAD';
  return (status === 301 || status === 302) && method === 'POST';
}
