// The issuer that signs people in to a server, as this command is its client.
import type { Configuration, TokenEndpointResponse } from 'openid-client';
import { CommandError } from '../errors/command-error.ts';
import { isLoopback } from '../server/server-address.ts';
import type { ServerFacts } from '../server/server-facts.ts';
import { issuerFault } from './issuer-fault.ts';
import { checkTokenAudience, serverAudience } from './server-audience.ts';
import type { SignIn } from './sign-in-store.ts';

const TIME_S = 20;
/** Where an issuer does not say how long an access token holds. */
const EXPIRES_S = 300;

/** `offline_access` asks for a refresh token; not every issuer knows it. */
export const SCOPE = 'openid profile email offline_access';

export interface IssuerNames {
  readonly issuer: string;
  readonly clientId: string;
  readonly resource: string | null;
}

/**
 * `audience` is the one a person named, if they did. @throws CommandError `no_issuer` when this server has no sign-in
 * for a command line, `foreign_audience` when it asks for tokens that may be for another one.
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
  // Signatures of id_tokens are checked, though they come straight from the issuer.
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
 * The part of the token endpoint's reply to keep; an issuer that does not rotate sends no new refresh token.
 * @throws CommandError `foreign_audience` when the token is not for the audience that was asked for.
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
