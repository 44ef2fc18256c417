// The routes for people who watch all runs: counts, failures by cause, queues, and what needs a hand. Those who watch the
// same at the same time share one answer for a few seconds.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FailureGroup, GroupFailuresResponse } from '@methods/proto/scheduler/v1/statistics_service_pb';
import type { FastifyInstance } from 'fastify';
import { AgedCache } from '../../cache/aged-cache.ts';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { timeView } from '../../views/party-view.ts';
import { replies } from '../reply-schemas.ts';
import { filterOf } from '../runs/run-filter.ts';
import { addCountRuns } from './count-runs.ts';
import type { SharedReplies, StatisticsRouteParts } from './statistics-parts.ts';
import { FailureGroups, FailuresQuery } from './statistics-schemas.ts';
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

// GET /api/runs/failures: failed runs by their cause.

function addFailures(scope: FastifyInstance, { reads }: StatisticsRouteParts, shared: SharedReplies): void {
  const schema = {
    operationId: 'groupFailures',
    summary: 'Group failed runs by their cause',
    description:
      'A cause is the method, the step, the code, and the message without ids and numbers. Takes the filter of the list ' +
      'of runs, and looks at the newest 20,000 runs and 1,000 failed ones. A reply is up to 5 seconds old.',
    tags: ['runs of users'],
    querystring: FailuresQuery,
    response: replies({ 200: FailureGroups }),
  };
  scope
    .withTypeProvider<TypeBoxTypeProvider>()
    .get('/api/runs/failures', { schema, config: { access: 'viewer' } }, async (request, reply) => {
      const { orgId } = callerOf(request);
      const filter = filterOf(request.query);
      reply.header('content-type', JSON_TYPE);
      if (filter === null) return JSON.stringify({ items: [], matches: 0, complete: true, searched_to: null });
      const key = JSON.stringify([orgId, 'failures', filter]);
      return shared.get(key, async () => failuresJson(await reads.statistics.failures({ runs: { orgId, ...filter } })));
    });
}

function failuresJson({ groups, matches, searchedToMs }: GroupFailuresResponse): string {
  return JSON.stringify({
    items: groups.map(groupView),
    matches,
    complete: searchedToMs === 0,
    searched_to: timeView(searchedToMs),
  });
}

function groupView({ method, step, code, message, runIds, newestAtMs, oldestAtMs }: FailureGroup) {
  return {
    method,
    step,
    code,
    message,
    count: runIds.length,
    newest: { run_id: runIds[0] ?? '', at: timeView(newestAtMs) },
    oldest_at: timeView(oldestAtMs),
    run_ids: runIds,
  };
}
