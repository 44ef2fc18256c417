// The people of one stack with two gateways, for all the stories of accounts.
import { until } from '../../harness/until.ts';
import type { ApiClient, Reply } from '../api-client.ts';
import { person } from '../people.ts';
import type { Stack } from '../stack.ts';

export interface AccountWorld {
  readonly stack: Stack;
  readonly admin: ApiClient;
  readonly member: ApiClient;
  readonly viewer: ApiClient;
}

export interface MethodBody {
  readonly id: string;
  readonly production_id: string;
  readonly display_name: string;
  readonly status: string;
  readonly current_version: string | null;
  readonly published_version: string | null;
  readonly build: { readonly state: string; readonly attempts: number; readonly error: string | null } | null;
}

export async function accountWorld(stack: Stack): Promise<AccountWorld> {
  return {
    stack,
    admin: await person(stack, { email: 'ada@example.com', role: 'admin' }),
    member: await person(stack, { email: 'mo@example.com', role: 'member' }),
    viewer: await person(stack, { email: 'vera@example.com', role: 'viewer' }),
  };
}

/** A change has to count within a second where nothing else runs; what gateways remember is believed for 30 s. */
const WITHIN_MS = 25_000;

/** Waits for both gateways, less long than either would remember what was. */
export async function onBothGateways(
  { stack }: AccountWorld,
  what: string,
  ask: (baseUrl: string) => Promise<Reply>,
  isDue: (reply: Reply) => boolean,
): Promise<void> {
  const each = stack.gateways.map((url) => until(`${what} at ${url}`, async () => isDue(await ask(url)), WITHIN_MS));
  await Promise.all(each);
}
