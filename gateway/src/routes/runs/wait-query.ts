// Reads `?wait_ms=` and `?after_question=`, and the caller that waits.
import { callerId } from '@methods/auth/caller';
import { isId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { FastifyReply, preValidationHookHandler } from 'fastify';
import type { Static } from 'typebox';
import type { WaitingCaller, WaitRequest } from '../../clients/run-waiters.ts';
import { callerOf } from '../../plugins/caller.ts';
import type { WaitQuery } from './run-schemas.ts';

// A query holds only texts, and the request check converts nothing.
export const readWaitMs: preValidationHookHandler = (request, _reply, done) => {
  const query = request.query as Record<string, unknown>;
  const text = query.wait_ms;
  if (typeof text === 'string' && /^\d{1,9}$/.test(text)) query.wait_ms = Number(text);
  done();
};

/** Null when the request does not wait. */
export function waitRequest(query: Static<typeof WaitQuery>): WaitRequest | null {
  const { wait_ms: waitMs, after_question: afterQuestion } = query;
  if (afterQuestion !== undefined && !isId('q', afterQuestion)) {
    const message = '"after_question" has to be a question id.';
    throw new ServiceError('invalid_request', message, {
      findings: [{ path: '/after_question', code: 'question_id', message }],
    });
  }
  return waitMs === undefined ? null : { waitMs, afterQuestion: afterQuestion ?? null };
}

/** The connection of a request that waits. */
export function waitingCaller({ raw, request }: FastifyReply): WaitingCaller {
  return {
    id: callerId(callerOf(request)),
    get gone() {
      return raw.destroyed;
    },
    onGone(listener) {
      raw.on('close', listener);
      return () => raw.off('close', listener);
    },
  };
}
