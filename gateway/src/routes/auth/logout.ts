// POST /auth/logout: ends the session where it is kept, not only in this browser.
import { opaqueTokenSha256 } from '@methods/auth/opaque-token';
import type { FastifyInstance } from 'fastify';
import { CallerRefused } from '../../callers/caller-refused.ts';
import { clientAddress } from '../../callers/client-address.ts';
import { clearSessionCookie, hasOwnOrigin, sessionToken } from '../../callers/session-cookie.ts';
import { wantsPage } from './auth-pages.ts';
import { authReplies } from './auth-replies.ts';
import type { SignInParts } from './sign-in-parts.ts';

export function addLogout(scope: FastifyInstance, { accounts, publicUrl }: SignInParts): void {
  const schema = {
    operationId: 'signOut',
    summary: 'Sign out',
    tags: ['sign-in'],
    response: authReplies({ 204: 'Signed out.', 303: 'Signed out; a browser is redirected to /.' }),
  };
  scope.post('/auth/logout', { schema }, async (request, reply) => {
    if (!hasOwnOrigin(request, publicUrl)) {
      throw new CallerRefused('foreign_origin', 'Signing out has to come from a page of this server.');
    }
    const token = sessionToken(request);
    const sha256 = token === null ? null : opaqueTokenSha256(token);
    const member = sha256 === null ? null : await accounts.sessionMember(sha256);
    if (sha256 !== null && member !== null) {
      await accounts.endSession(sha256, {
        kind: 'user',
        id: member.userId,
        ip: clientAddress(request),
        requestId: request.id,
      });
      request.caller = { kind: 'user', ...member, credential: 'session' };
    }
    clearSessionCookie(reply, publicUrl);
    return wantsPage(request) ? reply.redirect('/', 303) : reply.code(204).send();
  });
}
