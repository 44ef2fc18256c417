// The caller of a request as the registry records it with every change.
import { type Caller, callerId } from '@methods/auth/caller';
import type { FastifyRequest } from 'fastify';
import { callerOf } from '../plugins/caller.ts';
import { clientAddress } from '../plugins/client-address.ts';

/** The fields of `methods.registry.v1.Doer`. */
export interface RequestDoer {
  readonly kind: Caller['kind'];
  /** usr_, key_ or upl_. */
  readonly id: string;
  readonly ip: string;
  readonly requestId: string;
}

/** @throws ServiceError unauthorized on a route without callers. */
export function doerOf(request: FastifyRequest): RequestDoer {
  const caller = callerOf(request);
  return { kind: caller.kind, id: callerId(caller), ip: clientAddress(request), requestId: request.id };
}
