// Shared by the routes of questions: their parts, and the question and people that a request names.
import { isId, type QuestionId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { Actor } from '@methods/proto/run/v1/run_pb';
import type { QuestionItem } from '@methods/proto/scheduler/v1/question_service_pb';
import type { FastifyRequest } from 'fastify';
import type { OrganizationMembers } from '../../clients/organization-members.ts';
import type { QuestionCalls } from '../../clients/question-calls.ts';
import { callerOf } from '../../plugins/caller.ts';
import { actorOf } from '../../plugins/request-actor.ts';
import { needsPeople } from '../../views/inbox-view.ts';
import type { RunRouteParts } from '../runs/run-reply.ts';

export interface InboxRouteParts extends Pick<RunRouteParts, 'registry' | 'clock' | 'longWork' | 'audit'> {
  readonly questions: QuestionCalls;
  readonly members: OrganizationMembers;
}

/** A route's own entry in the description of the API. */
export function described(operationId: string, summary: string) {
  return { operationId, summary, tags: ['inbox'] };
}

/** Reads the question id of a path. @throws not_found for an invalid id. */
export function questionIdOf({ id }: { readonly id: string }): QuestionId {
  if (!isId('q', id)) throw new ServiceError('not_found');
  return id;
}

/**
 * Returns the members to compare these questions with; null: none of them needs it, there are too many to count, or the
 * registry is unavailable, since a warning is not worth failing the page.
 */
export async function membersFor(
  { members }: InboxRouteParts,
  request: FastifyRequest,
  items: readonly QuestionItem[],
) {
  if (!items.some(needsPeople)) return null;
  try {
    return await members.of(callerOf(request).orgId);
  } catch {
    return null;
  }
}

/** @throws invalid_request for a person who has no access to the organization */
export async function namedMember(
  { members }: InboxRouteParts,
  request: FastifyRequest,
  field: 'to' | 'assignee',
  who: string,
): Promise<Actor> {
  const named = who === 'me' ? actorOf(request) : await members.find(callerOf(request).orgId, who);
  if (named !== null) return named;
  const message = 'No member of the organization has this id or verified address.';
  throw new ServiceError('invalid_request', message, { findings: [{ path: `/${field}`, code: 'no_member', message }] });
}
