// The routes for people who watch all runs: counts, failures by cause, queues, and what needs a hand. Those who watch the
// same at the same time share one answer for a few seconds.
import type { FastifyInstance } from 'fastify';
import { AgedCache } from '../../cache/aged-cache.ts';
import { addCountRuns } from './count-runs.ts';
import { addFailures } from './failures.ts';
import type { StatisticsRouteParts } from './statistics-parts.ts';
import { addWarnings } from './warnings.ts';

const SHARED_MS = 5_000;
const BYTES_MAX = 16 * 1024 * 1024;

/** In the scope `api`. */
export function addStatisticsRoutes(scope: FastifyInstance, parts: StatisticsRouteParts): void {
  const { clock } = parts;
  const shared = new AgedCache<string>({
    clock,
    bytesMax: BYTES_MAX,
    ageMsOf: () => SHARED_MS,
    bytesOf: (reply) => 2 * reply.length,
  });
  addCountRuns(scope, parts, shared);
  addFailures(scope, parts, shared);
  addWarnings(scope, parts, shared);
}
