// JSON is the only kind of body. It passes the gate of json/json-gate.ts before any route sees it.
import { ServiceError } from '@methods/errors/service-error';
import type { FastifyInstance } from 'fastify';
import { type JsonFault, readJson } from '../json/json-gate.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Size of the body as it was sent; 0 without one. */
    bodyBytes: number;
  }
}

export const BODY_BYTES_MAX = 1024 * 1024;

export function addJsonBody(app: FastifyInstance): void {
  app.decorateRequest('bodyBytes', 0);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    request.bodyBytes = body.length;
    // Some clients announce JSON and send nothing.
    if (body.length === 0) return done(null, undefined);
    const reading = readJson(body);
    if (reading.ok) done(null, reading.value);
    else done(refusal(reading.fault));
  });
}

function refusal({ path, code, message }: JsonFault): ServiceError {
  const findings = code === 'json' || code === 'utf8' ? [] : [{ path, code, message }];
  return new ServiceError('invalid_request', message, { findings });
}
