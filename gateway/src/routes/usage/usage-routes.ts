// GET /api/usage: runs, their outcomes and times, and the answers to their questions, by day and method.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { bareMethodId, productionMethodId } from '@methods/base/ids';
import type { UsageRow } from '@methods/proto/scheduler/v1/usage_service_pb';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { pageOf } from '../methods/method-schemas.ts';
import { replies } from '../reply-schemas.ts';
import { addUsageCsv } from './usage-csv.ts';
import { rangeOf, UsageQuery, type UsageRouteParts } from './usage-range.ts';

const Percentiles = (description: string) =>
  Type.Object({ sum: Type.Number(), p50: Type.Number(), p95: Type.Number() }, { description });
const OF_RUNS = 'Milliseconds: of all runs together; median and 95th percentile of finished ones.';

const Usage = Type.Object({
  day: Type.String({ format: 'date', description: 'The day in UTC on which the runs were created.' }),
  method: Type.String({ description: 'wf_…' }),
  runs: Type.Integer(),
  succeeded: Type.Integer(),
  failed: Type.Integer(),
  cancelled: Type.Integer(),
  unfinished: Type.Integer(),
  waited: Type.Integer({ description: 'Runs that waited for an answer.' }),
  queued_ms: Percentiles(OF_RUNS),
  running_ms: Percentiles(OF_RUNS),
  waiting_ms: Type.Object({ sum: Type.Number() }),
  answers: Type.Integer({
    description: 'Accepted answers to the questions of these runs; of each run at most 100 are looked at.',
  }),
  answering_ms: Percentiles('Milliseconds from a question to its answer: together, median and 95th percentile.'),
});

/** In the scope `api`. */
export function addUsageRoutes(scope: FastifyInstance, parts: UsageRouteParts): void {
  const {
    reads: { usage },
    clock,
  } = parts;
  addUsageCsv(scope, parts);
  const schema = {
    operationId: 'listUsage',
    summary: 'Sum up runs by day and method, newest first',
    description:
      'A page looks at 5,000 runs. A day and method that continue on the next page have an item on each: add their ' +
      'counts and sums. Runs older than the retention are not counted.',
    tags: ['organization'],
    querystring: UsageQuery,
    response: replies({ 200: pageOf(Usage) }),
  };
  scope
    .withTypeProvider<TypeBoxTypeProvider>()
    .get('/api/usage', { schema, config: { access: 'viewer' } }, async (request, reply) => {
      const { from, to, method, cursor = '' } = request.query;
      const range = rangeOf(from, to, clock.wallMs());
      reply.header('content-type', JSON_TYPE);
      const methodId = method === undefined ? null : bareMethodId(method);
      // A malformed id names no method, like an unknown one.
      if (method !== undefined && methodId === null) return JSON.stringify({ items: [], next_cursor: null });
      const named = methodId === null ? '' : productionMethodId(methodId);
      const { rows, nextCursor } = await usage.list({
        orgId: callerOf(request).orgId,
        ...range,
        method: named,
        cursor,
      });
      return JSON.stringify({ items: rows.map(usageView), next_cursor: nextCursor || null });
    });
}

function usageView(row: UsageRow) {
  const { succeeded, failed, cancelled, unfinished, waited } = row;
  return {
    day: new Date(row.dayMs).toISOString().slice(0, 10),
    method: row.method,
    runs: succeeded + failed + cancelled + unfinished,
    ...{ succeeded, failed, cancelled, unfinished, waited },
    queued_ms: { sum: row.queuedMs, p50: row.queuedP50Ms, p95: row.queuedP95Ms },
    running_ms: { sum: row.runningMs, p50: row.runningP50Ms, p95: row.runningP95Ms },
    waiting_ms: { sum: row.waitingMs },
    answers: row.answers,
    answering_ms: { sum: row.answeringMs, p50: row.answeringP50Ms, p95: row.answeringP95Ms },
  };
}
