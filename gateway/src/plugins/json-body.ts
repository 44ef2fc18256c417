// JSON is the only kind of body. Each passes the gate of json/json-gate.ts before any route sees it.
import { ServiceError } from '@methods/errors/service-error';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type JsonFault, type JsonReading, readJson } from '../json/json-gate.ts';
import { LARGE_BODY_BYTES, type LargeBodies } from './large-bodies.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Size of the body as sent; 0 without one. */
    bodyBytes: number;
    /** Why its body is refused, which has arrived completely. */
    bodyFault: Error | null;
  }
}

export const BODY_BYTES_MAX = 1024 * 1024;

export function addJsonBody(app: FastifyInstance, largeBodies: LargeBodies): void {
  app.decorateRequest('bodyBytes', 0);
  app.decorateRequest('bodyFault', null);
  // An error of the parser would close the connection, as if more of the body were to follow, so a caller with bad
  // bodies would use a new connection for each.
  app.addHook('preValidation', (request, _reply, done) => done(request.bodyFault ?? undefined));
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    request.bodyBytes = body.length;
    // Some clients announce JSON and send nothing.
    if (body.length === 0) return done(null, undefined);
    const refuse = (error: Error) => {
      request.bodyFault = error;
      done(null, undefined);
    };
    const settle = (reading: JsonReading) => {
      if (reading.ok) done(null, reading.value);
      else refuse(refusal(reading.fault));
    };
    if (body.length <= LARGE_BODY_BYTES) return settle(readJson(body));
    const orgId = request.caller?.orgId ?? '';
    largeBodies.parse(orgId, body.length, () => readJson(body)).then(settle, refuse);
  });
}

/**
 * Lets `read` parse the bodies for the routes of `scope`. It resolves with the body that the route sees. More than a
 * MiB is never parsed on the event loop.
 */
export function readBodiesApart(
  scope: FastifyInstance,
  read: (request: FastifyRequest, body: Buffer) => Promise<JsonReading>,
): void {
  scope.removeContentTypeParser('application/json');
  scope.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      request.bodyBytes = body.length;
      if (body.length === 0) return undefined;
      try {
        const reading = await read(request, body);
        if (reading.ok) return reading.value;
        request.bodyFault = refusal(reading.fault);
      } catch (error) {
        request.bodyFault = error as Error;
      }
      return undefined;
    },
  );
}

export function refusal({ path, code, message }: JsonFault): ServiceError {
  if (code === 'json_weight') return new ServiceError('too_large', message, { findings: [{ path, code, message }] });
  const findings = code === 'json' || code === 'utf8' ? [] : [{ path, code, message }];
  return new ServiceError('invalid_request', message, { findings });
}

const MARK = 'takesBytes';

/** Adds bodies of bytes, of any content type: passed on as a stream, never parsed. */
export function addBytesBody(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, body, done) => done(null, body));
  scope.decorate(MARK, true);
}

export function takesBytes(server: FastifyInstance): boolean {
  return server.hasDecorator(MARK);
}
