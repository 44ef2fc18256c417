// One record for each request, written when the response has been sent: caller, route, outcome and duration. It holds
// no content and no path, which may contain anything, only the route.

import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Caller } from '@methods/auth/caller';
import { isId } from '@methods/base/ids';
import type { Logger } from '@methods/logging/logger';
import type { FastifyInstance } from 'fastify';
import { clientAddress } from '../callers/surface.ts';

export function addRequestLog(app: FastifyInstance, logger: Logger): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { caller, errorCode, refusal, params, tool, clientName } = request;
    const runId = (params as { id?: unknown } | undefined)?.id;
    logger.info(
      {
        request_id: request.id,
        method: request.method,
        route: request.routeOptions.url ?? 'none',
        status: reply.statusCode,
        ...(tool === null ? {} : { tool }),
        ...(clientName === '' ? {} : { client: clientName }),
        ...(errorCode === null ? {} : { code: errorCode }),
        ...(refusal === null ? {} : { refusal }),
        ...(caller === null ? {} : nameOf(caller)),
        ...(typeof runId === 'string' && isId('run', runId) ? { run_id: runId } : {}),
        peer: clientAddress(request),
        total_ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      'request',
    );
    done();
  });
}

function nameOf(caller: Caller): Record<string, string> {
  switch (caller.kind) {
    case 'service_key':
      return { org_id: caller.orgId, key_id: caller.keyId };
    case 'user':
      return { org_id: caller.orgId, user_id: caller.userId, credential: caller.credential };
    case 'upload':
      return { org_id: caller.orgId, upload_id: caller.uploadId };
  }
}

const VISIBLE_ASCII = /^[\x21-\x7e]{1,128}$/;

// Random for each process, then counted: unique, at no cost for a request.
const prefix = `req_${randomBytes(9).toString('base64url')}_`;
let count = 0;

/** Gives every request an id: the caller's own if it can be printed and logged safely. */
export function requestId({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && VISIBLE_ASCII.test(given) ? given : newRequestId();
}

export function newRequestId(): string {
  count++;
  return prefix + count.toString(36);
}
