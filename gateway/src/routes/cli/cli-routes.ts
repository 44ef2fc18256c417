// The routes of the command line; those of methods under both their names.
import type { FastifyInstance } from 'fastify';
import type { MethodRouteParts } from '../methods/method-parts.ts';
import { SPELLINGS } from '../methods/spelling.ts';
import { addCliMethods } from './cli-methods.ts';
import { addCliRuns, type CliRunParts } from './cli-runs.ts';

/** In the scope `cli`. */
export function addCliRoutes(scope: FastifyInstance, parts: MethodRouteParts & CliRunParts): void {
  for (const spelling of SPELLINGS) addCliMethods(scope, parts, spelling);
  addCliRuns(scope, parts);
}
