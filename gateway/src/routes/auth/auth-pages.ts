// The replies of signing in and out: a small page for browsers, the usual JSON for all other clients.
import type { Clock } from '@methods/base/clock';
import { errorBody } from '@methods/errors/error-body';
import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { CallerRefused } from '../../callers/caller-refused.ts';
import type { SignIn } from '../../callers/sign-in.ts';
import type { Accounts } from '../../clients/accounts.ts';
import { serviceErrorOf } from '../../plugins/error-reply.ts';
import { replies } from '../reply-schemas.ts';

/** The parts that the routes of signing in share once there is an issuer. */
export interface SignInParts {
  readonly accounts: Accounts;
  readonly signIn: SignIn;
  readonly publicUrl: string;
  readonly clock: Clock;
}

export function addAuthPages(scope: FastifyInstance): void {
  // A page signs out with a form without fields; nothing in it is read.
  scope.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'buffer' }, (_request, _body, done) =>
    done(null, undefined),
  );
  scope.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', 'no-store');
    reply.header('referrer-policy', 'no-referrer');
    reply.header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
    done();
  });
  scope.setErrorHandler((error: FastifyError, request, reply) => {
    if (error instanceof CallerRefused) request.refusal = error.reason;
    const known = serviceErrorOf(error);
    // The server's own handler logs what the page does not show.
    if (!wantsPage(request) || known.code === 'internal') throw error;
    request.errorCode = known.code;
    const { status, headers } = errorBody(known, request.id);
    return reply.code(status).headers(headers).type('text/html; charset=utf-8').send(page(known.message, request.id));
  });
}

export function wantsPage({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') ?? false;
}

function page(message: string, requestId: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Not signed in</title>
<style>body { font: 1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 15vh auto; padding: 0 1rem }</style>
<h1>Not signed in</h1>
<p>${escaped(message)}</p>
<p><a href="/auth/login">Sign in again</a></p>
<p><small>Request ${escaped(requestId)}</small></p>
</html>
`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

// The replies of signing in and out in the API's description: success is a redirect, and a refusal is a page for
// browsers.

const Page = { 'text/html': { schema: Type.String({ description: 'For a browser.' }) } };

/** `success`: a sentence for each status. */
export function authReplies(success: Readonly<Record<number, string>>): Record<string, object> {
  const empty = Object.entries(success).map(([status, description]) => [status, { type: 'null', description }]);
  const { '4xx': refused, '5xx': failed } = replies({});
  const either = (shape: object | undefined) => ({ content: { 'application/json': { schema: shape }, ...Page } });
  return { ...Object.fromEntries(empty), '4xx': either(refused), '5xx': either(failed) };
}
