// Bodies that are bytes, of any content type: passed on as a stream, never parsed.
import type { FastifyInstance } from 'fastify';

const MARK = 'takesBytes';

export function addBytesBody(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, body, done) => done(null, body));
  scope.decorate(MARK, true);
}

export function takesBytes(server: FastifyInstance): boolean {
  return server.hasDecorator(MARK);
}
