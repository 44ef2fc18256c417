// JSON is the only kind of body. It passes the gate of json/json-gate.ts before any route sees it.
import { ServiceError } from '@methods/errors/service-error';
import type { FastifyInstance } from 'fastify';
import { type JsonFault, type JsonReading, readJson } from '../json/json-gate.ts';
import { WEIGHT_PER_MIB_MAX } from '../json/json-weight.ts';
import { LARGE_BODY_BYTES, type LargeBodies } from './large-bodies.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Size of the body as it was sent; 0 without one. */
    bodyBytes: number;
  }
}

export const BODY_BYTES_MAX = 1024 * 1024;

export function addJsonBody(app: FastifyInstance, largeBodies: LargeBodies): void {
  app.decorateRequest('bodyBytes', 0);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    request.bodyBytes = body.length;
    // Some clients announce JSON and send nothing.
    if (body.length === 0) return done(null, undefined);
    const settle = (reading: JsonReading) => {
      if (reading.ok) done(null, reading.value);
      else done(refusal(reading.fault));
    };
    if (body.length <= LARGE_BODY_BYTES) return settle(readJson(body));
    const weightMax = (WEIGHT_PER_MIB_MAX * request.routeOptions.bodyLimit) / BODY_BYTES_MAX;
    const orgId = request.caller?.orgId ?? '';
    largeBodies.parse(orgId, body.length, () => readJson(body, weightMax)).then(settle, done);
  });
}

function refusal({ path, code, message }: JsonFault): ServiceError {
  if (code === 'json_weight') return new ServiceError('too_large', message, { findings: [{ path, code, message }] });
  const findings = code === 'json' || code === 'utf8' ? [] : [{ path, code, message }];
  return new ServiceError('invalid_request', message, { findings });
}
