// get_start: returns a run's start, for another start like it. The new run has its own key and id.
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { GetStart, StartRunSchema } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import type { RunActors } from '../actor/run-actors.ts';
import { answererNumber } from '../wire/run-message.ts';
import { getRun } from './get-run.ts';

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
  };
}
