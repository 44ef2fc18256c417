// The caller of a request as the registry records it with every change.
import { callerId } from '@methods/auth/caller';
import type { FastifyRequest } from 'fastify';
import { clientAddress } from '../callers/client-address.ts';
import type { RequestDoer } from '../clients/registry-calls.ts';
import { callerOf } from './caller.ts';

/** @throws ServiceError unauthorized on a route without callers. */
export function doerOf(request: FastifyRequest): RequestDoer {
  const caller = callerOf(request);
  const client = request.clientName !== '' && { client: request.clientName };
  return { kind: caller.kind, id: callerId(caller), ip: clientAddress(request), requestId: request.id, ...client };
}
