// get: returns the committed run. Another organization's run gets the same reply as a missing one.
import { isId, type OrgId, type RunId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { RunActors } from '../actor/run-actors.ts';
import type { Run } from '../run/run.ts';

export async function getRun(actors: RunActors, request: { orgId: OrgId; runId: RunId }): Promise<Run> {
  const run = isId('run', request.runId) ? await actors.read(request.runId) : null;
  if (run === null || run.facts.orgId !== request.orgId) throw new ServiceError('not_found', 'There is no such run.');
  return run;
}
