// Refusals of an upload that have a status of their own in tus 1.0 or HTTP and no code of their own in our errors.
import { errorBody } from '@methods/errors/error-body';
import { ServiceError } from '@methods/errors/service-error';
import type { FastifyInstance } from 'fastify';
import { JSON_TYPE } from '../../plugins/error-reply.ts';

/** 409: other bytes are stored. 412: another version of tus. 415: not the bytes themselves. */
export class UploadRefusal extends ServiceError {
  constructor(
    readonly status: 409 | 412 | 415,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super('invalid_request', message);
  }
}

/** Routes of `scope` may throw them; other errors are replied as everywhere. */
export function addUploadRefusals(scope: FastifyInstance): void {
  scope.setErrorHandler((error, request, reply) => {
    if (!(error instanceof UploadRefusal)) throw error;
    request.errorCode = error.code;
    reply.code(error.status).headers(error.headers).header('content-type', JSON_TYPE);
    return JSON.stringify(errorBody(error, request.id).body);
  });
}
