// Calls of the API, typed by its description. Each organization has a client of its own: its name is in every address,
// so that no call ever acts in another organization than the page shows.
import createClient, { type Client, type Middleware } from 'openapi-fetch';
import { failureOf, late, unreachable, unreadable } from './failure.ts';
import type { paths } from './gen/openapi.ts';

export type Api = Client<paths>;

/** Of a whole reply. A connection whose other side stalls, or is gone without a word, would be waited for without end. */
const REPLY_MS_MAX = 30_000;

const failures: Middleware = {
  async onResponse({ response }) {
    if (!response.ok) throw await failureOf(response);
  },
};

function fetchInTime(request: Request): Promise<Response> {
  const time = new AbortController();
  setTimeout(() => time.abort(new DOMException('No reply in time.', 'TimeoutError')), REPLY_MS_MAX);
  return fetch(request, { signal: AbortSignal.any([request.signal, time.signal]) });
}

/** `org`: the organization's id; null: the session's latest one. Calls reject with a Failure. */
export function apiOf(org: string | null): Api {
  const client = createClient<paths>({ baseUrl: org === null ? '' : pathOf(org), fetch: fetchInTime });
  client.use(failures);
  return client;
}

/** The prefix of all addresses of an organization, of pages and of calls. */
export function pathOf(org: string): string {
  return `/o/${org}`;
}

/** The content of a successful reply. Rejects with a Failure, unless the caller has left. */
export async function got<Data>(call: Promise<{ data?: Data }>): Promise<Data> {
  try {
    return (await call).data as Data;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'TimeoutError') throw late();
    if (error instanceof SyntaxError) throw unreadable();
    throw error instanceof TypeError ? unreachable() : error;
  }
}
