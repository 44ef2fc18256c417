// The issuer that signs people in to a server, with this command as its client: its endpoints, the audience of its
// tokens, and its refusals.
import type { Configuration, TokenEndpointResponse } from 'openid-client';
import { CommandError } from '../errors/command-error.ts';
import { isLoopback, type ServerFacts } from '../server/server-facts.ts';
import { connectionFault } from '../server/server-refusal.ts';
import type { SignIn } from './sign-in-store.ts';

const TIME_S = 20;
/** Used if an issuer does not say how long an access token is valid. */
const EXPIRES_S = 300;

/** `offline_access` asks for a refresh token; not every issuer knows it. */
export const SCOPE = 'openid profile email offline_access';

export interface IssuerNames {
  readonly issuer: string;
  readonly clientId: string;
  readonly resource: string | null;
}

/**
 * `audience`: the one that a person named, if any. @throws CommandError `no_issuer` when this server has no sign-in for
 * a command line, `foreign_audience` when it asks for tokens that may be for another one.
 */
export function issuerNames(server: string, facts: ServerFacts, audience: string | undefined): IssuerNames {
  const { issuer, cliClientId, machineAudience } = facts;
  if (issuer === null) throw new CommandError('no_issuer', `${server} has no sign-in: it names no issuer`);
  if (cliClientId === null) {
    const hint = 'its operator sets OIDC_CLI_CLIENT_ID';
    throw new CommandError('no_issuer', `${server} names no client for the command line at ${issuer}`, { hint });
  }
  return { issuer, clientId: cliClientId, resource: serverAudience(server, machineAudience, audience) };
}

export async function discoverIssuer({
  issuer,
  clientId,
}: Pick<IssuerNames, 'issuer' | 'clientId'>): Promise<Configuration> {
  const client = await import('openid-client');
  if (!URL.canParse(issuer) || (!issuer.startsWith('https://') && !isLoopback(issuer))) {
    const message = `the issuer ${issuer} has no address of https, and tokens are sent nowhere else`;
    throw new CommandError('bad_issuer', message, { hint: "the server's operator sets OIDC_ISSUER" });
  }
  // Signatures of id_tokens are checked, although they come directly from the issuer.
  const execute = [client.enableNonRepudiationChecks];
  if (isLoopback(issuer)) execute.push(client.allowInsecureRequests);
  try {
    return await client.discovery(new URL(issuer), clientId, undefined, client.None(), { execute, timeout: TIME_S });
  } catch (error) {
    throw issuerFault(issuer, error);
  }
}

export function resourceParameter(resource: string | null): Record<string, string> {
  return resource === null ? {} : { resource };
}

/**
 * Returns the part of the token endpoint's reply to store; an issuer without rotation sends no new refresh token.
 * @throws CommandError `foreign_audience` when the token is not for the requested audience.
 */
export function signInOf(
  reply: TokenEndpointResponse,
  about: Pick<SignIn, 'server' | 'issuer' | 'clientId' | 'resource'> & { readonly refreshToken?: string | null },
): SignIn {
  const { server, issuer, clientId, resource, refreshToken = null } = about;
  if (resource !== null) checkTokenAudience(reply.access_token, resource);
  return {
    server,
    issuer,
    clientId,
    resource,
    accessToken: reply.access_token,
    refreshToken: reply.refresh_token ?? refreshToken,
    expiresAtMs: Date.now() + (reply.expires_in ?? EXPIRES_S) * 1_000,
  };
}

// The audience of a token. Many servers can share an issuer, and anyone can run a server that names this issuer and
// another server's audience: the token sent to it would open that other server (RFC 8707, 2; RFC 9728, 3.3).

/**
 * Returns the audience to request a token for: the one a server names, if it is an address of that server, or if the
 * person names it too. A server of this machine may name any address of this machine.
 * @throws CommandError `no_issuer`, `foreign_audience`
 */
export function serverAudience(server: string, told: string | null, named: string | undefined): string {
  if (told === null) throw new CommandError('no_issuer', `${server} has no sign-in: it names no audience`);
  if (named !== undefined) {
    if (named === told) return told;
    throw new CommandError('foreign_audience', `${server} asks for tokens for ${told}, and not for ${named}`);
  }
  if (URL.canParse(told)) {
    const sameServer = new URL(told).origin === new URL(server).origin;
    if (sameServer || (isLoopback(told) && isLoopback(server))) return told;
  }
  const message = `${server} asks for tokens for ${told}, which is no address of its own and may be another server`;
  // The audience is not part of the command to copy: it is the server's text, in a person's shell.
  const hint = 'if its operator says that you can trust it:  methods login --audience  followed by that audience';
  throw new CommandError('foreign_audience', message, { hint });
}

/**
 * An issuer may ignore the requested audience and issue a token for another server, which must not reach this one. The
 * servers of methods accept only JWTs, so the token can be inspected. @throws CommandError `foreign_audience`
 */
export function checkTokenAudience(accessToken: string, audience: string): void {
  const { aud } = claimsOf(accessToken);
  if (aud === audience || (Array.isArray(aud) && aud.includes(audience))) return;
  const hint = "the server's operator registers the audience there";
  throw new CommandError('foreign_audience', `the issuer gave a token that is not for ${audience}`, { hint });
}

function claimsOf(token: string): { readonly aud?: unknown } {
  try {
    return Object(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')));
  } catch {
    return {};
  }
}

// Explains in a sentence why an issuer refused a sign-in. Only the error code of its answer is repeated.

const WORDS: Readonly<Record<string, readonly [message: string, hint?: string]>> = {
  access_denied: ['the sign-in was refused', 'sign in again and allow it'],
  expired_token: ['the code was not used in time', 'start again'],
  invalid_client: ['the issuer does not know this command line', "the server's operator registers its client there"],
  unauthorized_client: ['the issuer does not allow this way of signing in', 'try it with or without --device'],
  unsupported_grant_type: ['the issuer does not know this way of signing in', 'try it with or without --device'],
  invalid_target: ["the issuer does not know the server's audience", "the server's operator registers it there"],
  invalid_scope: [
    'the issuer does not allow what a sign-in needs',
    "the server's operator allows offline_access there",
  ],
};

/** Others who share the issuer may have caused it, so it does not end the sign-in. */
const TOO_MANY = 429;

/** Codes: `unreachable`, `bad_certificate`, `sign_in_refused`, `bad_issuer`. */
export function issuerFault(issuer: string, error: unknown): CommandError {
  if (error instanceof CommandError) return error;
  const code = oauthError(error);
  const status = statusIn(error);
  if (code !== null && status !== TOO_MANY) {
    const [message, hint] = WORDS[code] ?? [`the issuer ${issuer} refused the sign-in: ${code}`];
    return new CommandError('sign_in_refused', message, { hint, cause: error });
  }
  if (isConnection(error)) return connectionFault(`the issuer at ${issuer}`, error);
  if (status !== null && (status >= 500 || status === TOO_MANY)) {
    const hint = 'try again in a moment';
    return new CommandError('unreachable', `the issuer at ${issuer} answers ${status}`, { hint, cause: error });
  }
  const message = `the issuer ${issuer} does not respond like an OpenID Connect issuer`;
  const hint = `${detailOf(error)}check OIDC_ISSUER of the server; --debug shows more`;
  return new CommandError('bad_issuer', message, { hint, cause: error });
}

/** `error` of RFC 6749, as the library reports it; only in its fixed form, never a description. */
export function oauthError(error: unknown): string | null {
  if (!(error instanceof Error) || !('error' in error) || typeof error.error !== 'string') return null;
  return /^[a-z_]{1,60}$/.test(error.error) ? error.error : null;
}

function isConnection(error: unknown): boolean {
  for (let each = error, depth = 0; each instanceof Error && depth < 8; each = each.cause, depth++) {
    if (each.name === 'TimeoutError' || (each instanceof TypeError && each.message === 'fetch failed')) return true;
  }
  return false;
}

/** Of a refusal, or of the reply that the library did not expect, such as that of a proxy while its issuer starts again. */
function statusIn(error: unknown): number | null {
  if (error instanceof Error && 'status' in error && typeof error.status === 'number') return error.status;
  let each = error;
  for (let depth = 0; each instanceof Error && depth < 8; depth++) each = each.cause;
  return each instanceof Response ? each.status : null;
}

function detailOf(error: unknown): string {
  const words = error instanceof Error ? error.message : '';
  return /^[\w "().,'-]{1,120}$/.test(words) ? `${words}; ` : '';
}
