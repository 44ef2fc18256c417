// The cookie of a browser: a session in each organization that it is signed in to, the latest sign-in first, and before
// them a sign-in that may become one. Only in scopes that read cookies.
import { isOpaqueToken, opaqueTokenSha256 } from '@methods/auth/opaque-token';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Member } from '../clients/accounts.ts';

const COOKIE = 'workflow_session';
const SEPARATOR = '.';
/** Each costs a look-up. The eldest ends when there are more. */
export const SESSIONS_MAX = 5;

export interface BrowserSession {
  readonly token: string;
  readonly member: Member;
}

interface Sessions {
  sessionMember(sessionSha256: Buffer): Member | null | Promise<Member | null>;
}

/** Returns the tokens that have our format. */
export function shownTokens({ cookies }: FastifyRequest): readonly string[] {
  const tokens = cookies[COOKIE]?.split(SEPARATOR, SESSIONS_MAX + 1) ?? [];
  return tokens.filter(isOpaqueToken);
}

/** Returns the sessions that have not ended; a promise only if another process must be asked. */
export function browserSessions(
  accounts: Sessions,
  request: FastifyRequest,
): readonly BrowserSession[] | Promise<readonly BrowserSession[]> {
  const tokens = shownTokens(request);
  const members = tokens.map((token) => accounts.sessionMember(opaqueTokenSha256(token)));
  const sessions = (of: readonly (Member | null)[]) =>
    of.flatMap((member, n) => (member === null ? [] : [{ token: tokens[n] as string, member }]));
  if (members.some((member) => member instanceof Promise)) return Promise.all(members).then(sessions);
  return sessions(members as (Member | null)[]);
}

/** `expiresAtMs`: wall time, of the newest one. */
export function setSessionCookie(
  reply: FastifyReply,
  tokens: readonly string[],
  publicUrl: string,
  expiresAtMs: number,
): void {
  reply.setCookie(COOKIE, tokens.join(SEPARATOR), { ...attributes(publicUrl), expires: new Date(expiresAtMs) });
}

export function clearSessionCookie(reply: FastifyReply, publicUrl: string): void {
  reply.clearCookie(COOKIE, attributes(publicUrl));
}

/** Reports whether the requesting page is one of ours. Browsers send the page's origin with every unsafe request. */
export function hasOwnOrigin({ headers }: FastifyRequest, publicUrl: string | null): boolean {
  return publicUrl !== null && headers.origin === new URL(publicUrl).origin;
}

// Without Domain, no other host of the same site gets the cookie. Plain http is only allowed on this machine itself.
function attributes(publicUrl: string) {
  return { httpOnly: true, secure: publicUrl.startsWith('https:'), sameSite: 'lax', path: '/' } as const;
}
