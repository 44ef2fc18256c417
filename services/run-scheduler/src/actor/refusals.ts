// Refusals of the run's rules as errors of the public catalogue.
import { ServiceError } from '@methods/errors/service-error';
import type { DelegationRefusal, RefusalCode } from '../run/decision.ts';
import type { Run } from '../run/run.ts';
import type { TellOutcome } from './run-actor.ts';

const MESSAGES = {
  run_not_waiting: 'The run has no open question.',
  run_finished: 'The run has finished.',
  question_changed: 'Another question is open, or the question is unknown.',
} as const;

const DELEGATIONS = {
  assignee_may_not_answer: 'This person may not answer the question.',
  delegate_is_starter: 'This person started the run, and may not answer the question.',
  delegate_has_delegated: 'The question came from this person.',
  too_many_delegations: 'The question was delegated 20 times.',
} as const satisfies Record<DelegationRefusal, string>;

function refusalError(code: RefusalCode, run: Run | null): ServiceError {
  switch (code) {
    case 'not_found':
      return new ServiceError('not_found', 'There is no such run.');
    case 'run_not_waiting':
    case 'run_finished':
    case 'question_changed':
      return new ServiceError(code, MESSAGES[code], run === null ? {} : { facts: { status: run.status } });
    case 'not_an_answerer':
    case 'vote_final':
      return new ServiceError(code);
    case 'too_many_votes': {
      const message = 'No more people can answer this question.';
      return new ServiceError('too_large', message, { findings: [{ path: '/answer', code: 'votes', message }] });
    }
    case 'assignee_may_not_answer':
    case 'delegate_is_starter':
    case 'delegate_has_delegated':
    case 'too_many_delegations': {
      const message = DELEGATIONS[code];
      const path = code === 'assignee_may_not_answer' ? '/assignee' : '/to';
      return new ServiceError('invalid_request', message, { findings: [{ path, code, message }] });
    }
    case 'stale_attempt':
      return new ServiceError('stale_attempt', 'Another attempt holds this run.');
    default:
      return new ServiceError('unavailable', 'The run could not be changed just now.');
  }
}

/** The run after a command, or the error that explains why it was refused. */
export function runOf(outcome: TellOutcome): Run {
  if (outcome.kind === 'accepted') return outcome.run;
  if (outcome.kind === 'refused') throw refusalError(outcome.code, outcome.run);
  if (outcome.code === 'invalid_request') {
    throw new ServiceError('invalid_request', 'The request holds a value that cannot be stored.');
  }
  throw new ServiceError('unavailable', 'The run is moving to another node.');
}
