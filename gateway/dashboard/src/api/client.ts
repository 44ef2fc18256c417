// Calls of the API, typed by its description. Each organization has a client of its own: its name is in every address,
// so that no call ever acts in another organization than the page shows.
import createClient, { type Client, type Middleware } from 'openapi-fetch';
import { failureOf, unreachable } from './failure.ts';
import type { paths } from './gen/openapi.ts';

export type Api = Client<paths>;

const failures: Middleware = {
  async onResponse({ response }) {
    if (!response.ok) throw await failureOf(response);
  },
  onError: ({ error }) => {
    if (error instanceof DOMException && error.name === 'AbortError') return error;
    return error instanceof TypeError ? unreachable() : undefined;
  },
};

/** `org`: the organization's id; null: the session's latest one. Calls reject with a Failure. */
export function apiOf(org: string | null): Api {
  const client = createClient<paths>({ baseUrl: org === null ? '' : pathOf(org) });
  client.use(failures);
  return client;
}

/** The prefix of all addresses of an organization, of pages and of calls. */
export function pathOf(org: string): string {
  return `/o/${org}`;
}

/** The content of a successful reply. Rejects with a Failure. */
export async function got<Data>(call: Promise<{ data?: Data }>): Promise<Data> {
  const { data } = await call;
  return data as Data;
}
