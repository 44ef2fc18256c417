// The reply to a failed sign-in: a small page for browsers, the usual JSON for everything else.
import { errorBody } from '@methods/errors/error-body';
import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import { CallerRefused } from '../../callers/caller-refused.ts';
import { serviceErrorOf } from '../../plugins/error-reply.ts';

export function addAuthPages(scope: FastifyInstance): void {
  // A form without fields is how a page signs out; nothing in it is read.
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
