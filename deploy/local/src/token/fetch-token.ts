// Asks a stack's identity provider for an access token, with the secret of its data folder.
import { StackError } from '../embedded/stack-error.ts';
import { ISSUE_TOKEN_PATH, type TokenRequest } from '../identity/token-request.ts';
import type { ProviderOfStack } from './running-stack.ts';

const TIMEOUT_MS = 10_000;

/** @throws StackError `token_refused`, or `no_stack` when the provider does not answer. */
export async function fetchToken({ issuer, secret }: ProviderOfStack, request: TokenRequest): Promise<string> {
  const { email, organization, role, audience } = request;
  let response: Response;
  try {
    response = await fetch(issuer + ISSUE_TOKEN_PATH, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ email, organization, role, audience }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (error) {
    throw new StackError('no_stack', `The identity provider at ${issuer} does not answer.`, { cause: error });
  }
  const reply = (await response.json()) as { access_token?: string; error_description?: string };
  if (reply.access_token === undefined)
    throw new StackError(
      'token_refused',
      reply.error_description ?? `The identity provider answered ${response.status}.`,
    );
  return reply.access_token;
}
