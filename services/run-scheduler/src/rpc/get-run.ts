// get and get_start: return the committed run, or its start. Another organization's run gets the same reply as a
// missing one.

import type { MessageInitShape } from '@bufbuild/protobuf';
import { isId, type OrgId, type RunId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { GetStart, StartRunSchema } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import type { RunActors } from '../actor/run-actors.ts';
import type { Run } from '../run/run.ts';
import { answererNumber } from '../wire/run-message.ts';

export async function getRun(actors: RunActors, request: { orgId: OrgId; runId: RunId }): Promise<Run> {
  const run = isId('run', request.runId) ? await actors.read(request.runId) : null;
  if (run === null || run.facts.orgId !== request.orgId) throw new ServiceError('not_found', 'There is no such run.');
  return run;
}

/** get_start: returns a run's start, for another start like it. The new run gets its own key and id. */
export async function getStart(actors: RunActors, request: GetStart): Promise<MessageInitShape<typeof StartRunSchema>> {
  const { facts } = await getRun(actors, request);
  return {
    orgId: facts.orgId,
    method: facts.method,
    versionId: facts.versionId,
    inputsJson: facts.inputsJson,
    webhookUrl: facts.webhookUrl ?? '',
    keyId: facts.keyId,
    answerBy: answererNumber(facts.answerBy),
    metadata: facts.metadata,
    needs: facts.needs === '' ? [] : facts.needs.split(','),
    cleansUp: facts.cleansUp,
    contentId: facts.contentId ?? '',
  };
}
