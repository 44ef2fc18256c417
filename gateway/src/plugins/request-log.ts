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
    const record: Record<string, unknown> = {
      request_id: request.id,
      method: request.method,
      route: request.routeOptions.url ?? 'none',
      status: reply.statusCode,
    };
    if (tool !== null) record.tool = tool;
    if (clientName !== '') record.client = clientName;
    if (errorCode !== null) record.code = errorCode;
    if (refusal !== null) record.refusal = refusal;
    if (caller !== null) addCaller(record, caller);
    if (typeof runId === 'string' && isId('run', runId)) record.run_id = runId;
    record.peer = clientAddress(request);
    record.total_ms = Math.round(reply.elapsedTime * 10) / 10;
    logger.info(record, 'request');
    done();
  });
}

function addCaller(record: Record<string, unknown>, caller: Caller): void {
  record.org_id = caller.orgId;
  switch (caller.kind) {
    case 'service_key':
      record.key_id = caller.keyId;
      break;
    case 'user':
      record.user_id = caller.userId;
      record.credential = caller.credential;
      break;
    case 'upload':
      record.upload_id = caller.uploadId;
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
