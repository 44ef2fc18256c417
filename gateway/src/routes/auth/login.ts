// GET /auth/login: sends the person to the issuer. The cookie names the sign-in under way until they come back.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { newOpaqueToken, opaqueTokenSha256 } from '@methods/auth/opaque-token';
import { ServiceError } from '@methods/errors/service-error';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { setSessionCookie } from '../../callers/session-cookie.ts';
import { authReplies } from './auth-replies.ts';
import type { SignInParts } from './sign-in-parts.ts';

const LoginQuery = Type.Object(
  { return_to: Type.Optional(Type.String({ maxLength: 2_048, description: 'Path to go to afterwards.' })) },
  { additionalProperties: false },
);

export function addLogin(scope: FastifyInstance, { accounts, signIn, publicUrl }: SignInParts): void {
  const schema = {
    operationId: 'signIn',
    summary: 'Sign in with a browser',
    tags: ['sign-in'],
    querystring: LoginQuery,
    response: authReplies({ 302: 'To the issuer.' }),
  };
  scope.withTypeProvider<TypeBoxTypeProvider>().get('/auth/login', { schema }, async (request, reply) => {
    const { url, underWay } = await signIn.begin(ownPath(request.query.return_to ?? '/'));
    const token = newOpaqueToken();
    const expiresAtMs = await accounts.beginSignIn(opaqueTokenSha256(token), underWay);
    setSessionCookie(reply, token, publicUrl, expiresAtMs);
    return reply.redirect(url, 302);
  });
}

// `//host` and `/\host` lead browsers elsewhere; some browsers drop characters other than visible ASCII.
function ownPath(path: string): string {
  if (/^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/.test(path)) return path;
  const message = 'return_to has to be a path of this server.';
  throw new ServiceError('invalid_request', message, {
    findings: [{ path: '/return_to', code: 'return_to', message }],
  });
}
