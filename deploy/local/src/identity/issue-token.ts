// Issues tokens for scripts and tests: anyone who can read the secret in the stack's data folder owns the stack, and
// may act as any person in it. The provider signs them like every other token.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AccountFault, accountOf } from './account.ts';
import { RequestFault, readBody, sendJson } from './http.ts';
import type { IdentityProvider } from './identity-provider.ts';
import { ACCESS_TOKEN_S } from './resources.ts';
import type { TokenRequest } from './token-request.ts';

/** Answers `{access_token, expires_in}` to a TokenRequest in JSON with the secret as its bearer. */
export async function issueToken(
  identity: IdentityProvider,
  secret: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const given = /^Bearer (\S{1,256})$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
  if (!timingSafeEqual(digest(given), digest(secret))) throw new RequestFault(401, 'The secret is not this stack’s.');
  if (request.method !== 'POST') throw new RequestFault(405, 'Use POST.');
  const { audience, ...person } = asked(await readBody(request));
  try {
    const token = await identity.issueToken(accountOf(person), audience);
    sendJson(response, 200, { access_token: token, expires_in: ACCESS_TOKEN_S });
  } catch (error) {
    if (error instanceof AccountFault) throw new RequestFault(400, error.message);
    throw error;
  }
}

function asked(body: string): TokenRequest {
  let value: Record<string, unknown>;
  try {
    value = Object(JSON.parse(body));
  } catch {
    throw new RequestFault(400, 'The body is not JSON.');
  }
  const { email, organization, role, audience } = value;
  if (typeof email !== 'string' || typeof organization !== 'string' || typeof role !== 'string')
    throw new RequestFault(400, 'email, organization and role are texts.');
  if (audience !== 'machine' && audience !== 'mcp') throw new RequestFault(400, 'audience is machine or mcp.');
  return { email, organization, role, audience };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
