// GET /api/runs/failures: failed runs by their cause.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FailureGroup, GroupFailuresResponse } from '@methods/proto/scheduler/v1/statistics_service_pb';
import type { FastifyInstance } from 'fastify';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { timeView } from '../../views/party-view.ts';
import { replies } from '../reply-schemas.ts';
import { filterOf } from '../runs/run-filter.ts';
import type { SharedReplies, StatisticsRouteParts } from './statistics-parts.ts';
import { FailureGroups, FailuresQuery } from './statistics-schemas.ts';

export function addFailures(scope: FastifyInstance, { reads }: StatisticsRouteParts, shared: SharedReplies): void {
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
