// Writes the run routes' entries of the audit log. What people see of a run and do to it is recorded before the reply.
// What programs do is recorded without waiting, so that their requests depend on nothing more; their reads are not
// recorded, since a service key is the application that requested the run.
import type { RunId } from '@methods/base/ids';
import type { Act } from '@methods/service/audit-log';
import type { FastifyRequest } from 'fastify';
import { callerOf } from '../../plugins/caller.ts';
import { doerOf } from '../../plugins/request-doer.ts';
import type { RunRouteParts } from './run-reply.ts';

type Acts = Pick<RunRouteParts, 'audit'>;
type RunFacts = Pick<Act, 'targetId' | 'facts'>;

/** Records a view before a whole run is shown. Null: nothing to await. @throws ServiceError unavailable */
export function runShown(request: FastifyRequest, { audit }: Acts, runId: RunId): Promise<void> | null {
  return isPerson(request) ? audit.beforeShowing(actOf(request, 'run.read', { targetId: runId })) : null;
}

/** Records a start, after it. */
export function runStarted(request: FastifyRequest, { audit }: Acts, run: RunFacts): void {
  if (isPerson(request)) audit.note(actOf(request, 'run.start', run));
}

/** Records a change before the reply. Null: nothing to await. @throws ServiceError unavailable */
export function runChanged(
  request: FastifyRequest,
  { audit }: Acts,
  action: 'run.answer' | 'run.assign' | 'run.cancel' | 'run.delegate',
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
