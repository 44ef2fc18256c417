// A call whose shape the caller names: for routes that the generated types do not have.
import { pathOf } from './client.ts';
import { failureOf, unreachable } from './failure.ts';

interface Asked {
  readonly method?: 'GET' | 'POST';
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** `path`: with its query. Rejects with a Failure. */
export async function ask<Data>(
  org: string,
  path: string,
  { method = 'GET', body, signal }: Asked = {},
): Promise<Data> {
  const init: RequestInit = {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    ...(signal && { signal }),
  };
  const response = await fetch(pathOf(org) + path, init).catch((error: unknown) => {
    throw error instanceof DOMException ? error : unreachable();
  });
  if (!response.ok) throw await failureOf(response);
  return (await response.json()) as Data;
}
