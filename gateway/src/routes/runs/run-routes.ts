// The run routes in the order of a run's life, the same for programs and for people.
import type { FastifyInstance } from 'fastify';
import { addAnswerRun, addCancelRun } from './answer-run.ts';
import { addGetRun } from './get-run.ts';
import { addListRuns } from './list-runs.ts';
import { addRerunRun } from './rerun-run.ts';
import type { RunSurface } from './run-acts.ts';
import { addRunEvents } from './run-events.ts';
import { addRunFiles } from './run-files.ts';
import type { RunRouteParts } from './run-reply.ts';
import { addStartBatch } from './start-batch.ts';
import { addSealedStart, addStartRun } from './start-run.ts';

/** Within a scope whose routes have callers. */
export function addRunRoutes(scope: FastifyInstance, parts: RunRouteParts, surface: RunSurface): void {
  addStartRun(scope, parts, surface);
  addStartBatch(scope, parts, surface);
  addListRuns(scope, parts, surface);
  addGetRun(scope, parts, surface);
  addAnswerRun(scope, parts, surface);
  addCancelRun(scope, parts, surface);
  addRerunRun(scope, parts, surface);
  addRunEvents(scope, parts, surface);
  addRunFiles(scope, parts, surface);
  if (!surface.people) addSealedStart(scope, parts);
}
