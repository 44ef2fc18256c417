// The cookie of a dashboard session, and of a sign-in that may become one.
import { isOpaqueToken } from '@methods/auth/opaque-token';
import type { FastifyReply, FastifyRequest } from 'fastify';

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
