// The run routes in the order of a run's life.
import type { FastifyInstance } from 'fastify';
import { addAnswerRun } from './answer-run.ts';
import { addCancelRun } from './cancel-run.ts';
import { addGetRun } from './get-run.ts';
import type { RunRouteParts } from './run-reply.ts';
import { addStartRun } from './start-run.ts';

/** In a scope whose routes have callers. */
export function addRunRoutes(scope: FastifyInstance, parts: RunRouteParts): void {
  addStartRun(scope, parts);
  addGetRun(scope, parts);
  addAnswerRun(scope, parts);
  addCancelRun(scope, parts);
}
