// The parts that identify people: their accounts and, if an issuer is configured, its tokens and its sign-in.
import { noOrganization } from '@methods/auth/identity';
import { Issuer } from '@methods/auth/issuer';
import { isOpaqueToken } from '@methods/auth/opaque-token';
import type { Clock } from '@methods/base/clock';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Accounts } from '../clients/accounts.ts';
import type { IssuerConfig } from '../config.ts';
import { AccessTokens } from './access-tokens.ts';
import { SignIn } from './sign-in.ts';

export interface People {
  readonly accounts: Accounts;
  /** Both are null without an issuer: then there are only service keys. */
  readonly accessTokens: AccessTokens | null;
  readonly signIn: SignIn | null;
  /** The message for a person whose token names no organization. */
  readonly noOrganization: string;
}

interface PeopleOptions {
  readonly issuer: IssuerConfig | null;
  readonly publicUrl: string | null;
  readonly mcpUrl: string | null;
  /** `host:port`. */
  readonly methodRegistryAddress: string;
}

export function peopleOf({ issuer: config, publicUrl, mcpUrl, ...options }: PeopleOptions, clock: Clock): People {
  const accounts = new Accounts({ address: options.methodRegistryAddress, clock, issuer: config?.url ?? '' });
  if (config === null || publicUrl === null) {
    return { accounts, accessTokens: null, signIn: null, noOrganization: '' };
  }
  const issuer = new Issuer(config.url, clock);
  return {
    accounts,
    accessTokens: new AccessTokens({ ...config, issuer, clock, mcpAudience: mcpUrl }),
    signIn: new SignIn({ issuer, config, publicUrl }),
    noOrganization: noOrganization(config),
  };
}

// The cookie of a dashboard session, and of a sign-in that may become one.
const SESSION_COOKIE = 'workflow_session';

/** Returns the cookie's value, if it has our format. Only in scopes that read cookies. */
export function sessionToken(request: FastifyRequest): string | null {
  const value = request.cookies[SESSION_COOKIE];
  return value !== undefined && isOpaqueToken(value) ? value : null;
}

/** `expiresAtMs`: wall time. */
export function setSessionCookie(reply: FastifyReply, token: string, publicUrl: string, expiresAtMs: number): void {
  reply.setCookie(SESSION_COOKIE, token, { ...attributes(publicUrl), expires: new Date(expiresAtMs) });
}

export function clearSessionCookie(reply: FastifyReply, publicUrl: string): void {
  reply.clearCookie(SESSION_COOKIE, attributes(publicUrl));
}

/** Reports whether the requesting page is one of ours. Browsers send the page's origin with every unsafe request. */
export function hasOwnOrigin({ headers }: FastifyRequest, publicUrl: string | null): boolean {
  return publicUrl !== null && headers.origin === new URL(publicUrl).origin;
}

// Without Domain, no other host of the same site gets the cookie. Plain http is only allowed on this machine itself.
function attributes(publicUrl: string) {
  return { httpOnly: true, secure: publicUrl.startsWith('https:'), sameSite: 'lax', path: '/' } as const;
}
