// The caller of a request as a run stores it (the starter of the run or the answerer of its question, with the
// channel), and as the registry records it.
import { type Caller, callerId, type UserCaller } from '@methods/auth/caller';
import { type Actor, AnswerChannel } from '@methods/proto/run/v1/run_pb';
import type { FastifyRequest } from 'fastify';
import { clientAddress } from '../callers/surface.ts';
import type { RequestDoer } from '../clients/registry-calls.ts';
import { callerOf } from './caller.ts';

export const NO_ONE: Actor = {
  $typeName: 'methods.run.v1.Actor',
  personId: '',
  keyId: '',
  email: '',
  name: '',
  role: '',
  linkRecipient: '',
  client: '',
};

const CHANNELS: Readonly<Record<UserCaller['credential'], AnswerChannel>> = {
  machine_token: AnswerChannel.CLI,
  mcp_token: AnswerChannel.MCP,
  session: AnswerChannel.INBOX,
};

export function actorOf(request: FastifyRequest): Actor {
  const caller = callerOf(request);
  if (caller.kind === 'service_key') return { ...NO_ONE, keyId: caller.keyId };
  if (caller.kind === 'upload') return NO_ONE;
  const { userId: personId, verifiedEmail: email, name, role } = caller;
  return { ...NO_ONE, personId, email, name, role, client: request.clientName };
}

export function channelOf(request: FastifyRequest): AnswerChannel {
  const caller: Caller = callerOf(request);
  return caller.kind === 'user' ? CHANNELS[caller.credential] : AnswerChannel.API;
}

// The caller of a request as the registry records it with every change.

/** @throws ServiceError unauthorized on a route without callers. */
export function doerOf(request: FastifyRequest): RequestDoer {
  const caller = callerOf(request);
  const client = request.clientName !== '' && { client: request.clientName };
  return { kind: caller.kind, id: callerId(caller), ip: clientAddress(request), requestId: request.id, ...client };
}
