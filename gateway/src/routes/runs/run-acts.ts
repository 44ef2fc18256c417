// What of the run routes stands in the audit log. What people see of a run, and what they do to it, is written before
// they hear of it. What programs do is told without waiting, so that their way depends on nothing more; what they read
// is not told: a service key is the application that asked for the run.
import type { FastifyRequest } from 'fastify';
import type { Act } from '../../clients/audit-log.ts';
import { callerOf } from '../../plugins/caller.ts';
import { doerOf } from '../../plugins/request-doer.ts';
import type { RunRouteParts } from './run-reply.ts';

type Acts = Pick<RunRouteParts, 'audit'>;
type RunFacts = Pick<Act, 'targetId' | 'facts'>;

/** Before a whole run is shown. Null where nothing has to be awaited. @throws ServiceError unavailable */
export function runShown(request: FastifyRequest, { audit }: Acts, runId: string): Promise<void> | null {
  return isPerson(request) ? audit.beforeShowing(actOf(request, 'run.read', { targetId: runId })) : null;
}

/** After a start. */
export function runStarted(request: FastifyRequest, { audit }: Acts, run: RunFacts): void {
  if (isPerson(request)) audit.note(actOf(request, 'run.start', run));
}

/** After an answer or a cancel, before the reply. Null where nothing has to be awaited. @throws ServiceError unavailable */
export function runChanged(
  request: FastifyRequest,
  { audit }: Acts,
  action: 'run.answer' | 'run.cancel',
  run: RunFacts,
): Promise<void> | null {
  const act = actOf(request, action, run);
  if (isPerson(request)) return audit.afterDoing(act);
  audit.note(act);
  return null;
}

function isPerson(request: FastifyRequest): boolean {
  return callerOf(request).kind === 'user';
}

function actOf(request: FastifyRequest, action: Act['action'], run: RunFacts): Act {
  return { orgId: callerOf(request).orgId, doer: doerOf(request), action, ...run };
}
