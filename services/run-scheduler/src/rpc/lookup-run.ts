// lookup: finds the run that has a key, before a start is refused for its values.
import { ServiceError } from '@methods/errors/service-error';
import type { LookupRun } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import type { RunActors } from '../actor/run-actors.ts';
import type { Run } from '../run/run.ts';
import { conflict } from './start-run.ts';

export async function lookupRun(actors: RunActors, request: LookupRun): Promise<Run> {
  const replay = await actors.byKey(request);
  if (replay === null) throw new ServiceError('not_found', 'No run has this key.');
  if (replay.kind === 'failed') throw conflict();
  return replay.run;
}
