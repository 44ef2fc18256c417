// GET /auth/callback: the issuer sends the person back. A sign-in is taken once, and the id in the cookie is replaced,
// so that the old one is useless.
import { newOpaqueToken, opaqueTokenSha256 } from '@methods/auth/opaque-token';
import type { FastifyInstance } from 'fastify';
import { CallerRefused } from '../../callers/caller-refused.ts';
import { clientAddress } from '../../callers/client-address.ts';
import { clearSessionCookie, sessionToken, setSessionCookie } from '../../callers/session-cookie.ts';
import { authReplies } from './auth-replies.ts';
import type { SignInParts } from './sign-in-parts.ts';

export function addCallback(scope: FastifyInstance, { accounts, signIn, publicUrl }: SignInParts): void {
  const schema = {
    operationId: 'signedIn',
    summary: 'The issuer sends people back here',
    tags: ['sign-in'],
    response: authReplies({ 303: 'Signed in; redirects to the path of `return_to`.' }),
  };
  scope.get('/auth/callback', { schema }, async (request, reply) => {
    const token = sessionToken(request);
    const underWay = token === null ? null : await accounts.takeSignIn(opaqueTokenSha256(token));
    if (underWay === null) {
      throw new CallerRefused('sign_in_unknown', 'This sign-in has ended, or it was completed already.');
    }
    clearSessionCookie(reply, publicUrl);
    const member = await accounts.signedIn(await signIn.complete(queryOf(request.raw.url), underWay), request);
    const session = newOpaqueToken();
    const doer = { kind: 'user', id: member.userId, ip: clientAddress(request), requestId: request.id } as const;
    const expiresAtMs = await accounts.createSession(opaqueTokenSha256(session), member, doer);
    setSessionCookie(reply, session, publicUrl, expiresAtMs);
    request.caller = { kind: 'user', ...member, credential: 'session' };
    return reply.redirect(underWay.returnTo, 303);
  });
}

function queryOf(url = ''): string {
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark);
}
