// People of a stack: access tokens from its own identity provider, and sign-ins with a browser there.
import { signIn } from '@methods/local-stack/identity/testing/running-provider.fixture';
import { chooseStack, fetchToken } from '@methods/local-stack/token/running-stack';
import { ApiClient } from './api-client.ts';
import { type IssuerVisit, signedInSession } from './browser-session.ts';
import type { Stack } from './stack.ts';

export interface PersonOptions {
  readonly email: string;
  /** Empty: the service decides. */
  readonly role: 'viewer' | 'member' | 'admin' | '';
  /** Default: the stack's own. */
  readonly organization?: string;
}

/** Speaks to the first gateway with a token of the command line. */
export async function person(
  { ready }: Pick<Stack, 'ready'>,
  { organization = 'Local', ...who }: PersonOptions,
): Promise<ApiClient> {
  const token = await fetchToken(chooseStack(ready.data_dir), { ...who, organization, audience: 'machine' });
  return new ApiClient(ready.base_url, token);
}

/** The pages of the identity provider, as a person who signs in there and allows what is asked. */
export function pagesFor({ email, role, organization = 'Local' }: PersonOptions): IssuerVisit {
  return async (url) => (await signIn(url, { email, organization, role })).href;
}

/** The value of the session's cookie. */
export function sessionOf({ ready }: Pick<Stack, 'ready'>, who: PersonOptions): Promise<string> {
  return signedInSession(ready.base_url, pagesFor(who));
}
