// GET /api/runs/statistics: runs by status over time, with their durations.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { OrgId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { CountRunsResponse, RunBucket, StatusCounts } from '@methods/proto/scheduler/v1/statistics_service_pb';
import type { FastifyInstance, preValidationHookHandler } from 'fastify';
import type { Static } from 'typebox';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { timeView } from '../../views/party-view.ts';
import { replies } from '../reply-schemas.ts';
import { type FilterMessage, filterOf } from '../runs/run-filter.ts';
import type { SharedReplies, StatisticsRouteParts } from './statistics-parts.ts';
import { CountQuery, LAST, RunStatistics } from './statistics-schemas.ts';

const BUCKETS_DEFAULT = 96;
const SPAN_MS_MAX = 3_660 * 86_400_000;

type Query = Static<typeof CountQuery>;

interface Range {
  readonly fromMs: number;
  readonly toMs: number;
  readonly buckets: number;
}

export function addCountRuns(
  scope: FastifyInstance,
  { reads, clock }: StatisticsRouteParts,
  shared: SharedReplies,
): void {
  const schema = {
    operationId: 'countRuns',
    summary: 'Count runs by status over time',
    description:
      'Takes the filter of the list of runs. It looks at 100,000 runs at most, the newest ones, and says whether these ' +
      'were all. A reply is up to 5 seconds old.',
    tags: ['runs of users'],
    querystring: CountQuery,
    response: replies({ 200: RunStatistics }),
  };
  const options = { schema, config: { access: 'viewer' }, preValidation: readBuckets } as const;
  scope.withTypeProvider<TypeBoxTypeProvider>().get('/api/runs/statistics', options, async (request, reply) => {
    const { orgId } = callerOf(request);
    const query = request.query as Query;
    const range = rangeOf(query, clock.wallMs());
    const filter = filterOf(query);
    reply.header('content-type', JSON_TYPE);
    if (filter === null) return JSON.stringify(statisticsView(range, null));
    const key = JSON.stringify([orgId, 'count', filter, range]);
    return shared.get(key, async () => JSON.stringify(statisticsView(range, await counted(orgId, filter, range))));
  });

  function counted(orgId: OrgId, filter: FilterMessage, { fromMs, toMs, buckets }: Range) {
    // The first millisecond belongs to the range, and the filter's time does not.
    const times = { createdAfterMs: fromMs - 1, createdBeforeMs: toMs };
    return reads.statistics.count({ runs: { orgId, ...filter, ...times }, buckets });
  }
}

/**
 * Of the last hours it ends with a whole bucket, so that callers of one moment ask the same.
 * @throws ServiceError invalid_request
 */
function rangeOf(query: Query, nowMs: number): Range {
  const { last, created_after: after, created_before: before, buckets = BUCKETS_DEFAULT } = query;
  if (last !== undefined && (after !== undefined || before !== undefined)) {
    throw refused('last', 'Give either "last" or times.');
  }
  if (after === undefined && before === undefined) {
    const spanMs = LAST[last ?? '24h'];
    const bucketMs = Math.ceil(spanMs / buckets);
    const toMs = Math.ceil((nowMs + 1) / bucketMs) * bucketMs;
    return { fromMs: toMs - buckets * bucketMs, toMs, buckets };
  }
  if (after === undefined) throw refused('created_after', 'Give the time with which the count begins.');
  const filter = filterOf(query);
  const fromMs = (filter?.createdAfterMs ?? 0) + 1;
  const toMs = filter?.createdBeforeMs || Math.ceil((nowMs + 1) / 60_000) * 60_000;
  if (toMs <= fromMs) throw refused('created_before', 'The count ends before it begins.');
  if (toMs - fromMs > SPAN_MS_MAX) throw refused('created_after', 'A count spans ten years at most.');
  return { fromMs, toMs, buckets };
}

function statisticsView({ fromMs, toMs, buckets: count }: Range, counts: CountRunsResponse | null) {
  const bucketMs = counts?.bucketMs ?? Math.ceil((toMs - fromMs) / count);
  const known = new Map(counts?.buckets.map((bucket) => [bucket.atMs, bucket]));
  const starts = Array.from({ length: Math.ceil((toMs - fromMs) / bucketMs) }, (_, i) => fromMs + i * bucketMs);
  const { times, searchedToMs = 0 } = counts ?? {};
  return {
    from: timeView(fromMs),
    to: timeView(toMs),
    bucket_ms: bucketMs,
    looked_at: counts?.lookedAt ?? 0,
    complete: searchedToMs === 0,
    searched_to: timeView(searchedToMs),
    totals: countsView(counts?.totals),
    running_ms: { p50: whole(times?.runningP50Ms), p95: whole(times?.runningP95Ms) },
    queued_ms: { p50: whole(times?.queuedP50Ms), p95: whole(times?.queuedP95Ms) },
    buckets: starts.map((atMs) => bucketView(atMs, known.get(atMs))),
    methods: (counts?.methods ?? []).map(({ method, counts: of }) => ({ method, ...countsView(of) })),
  };
}

function bucketView(atMs: number, bucket: RunBucket | undefined) {
  const times = bucket?.times;
  return {
    at: timeView(atMs),
    ...countsView(bucket?.counts),
    running_p50_ms: whole(times?.runningP50Ms),
    running_p95_ms: whole(times?.runningP95Ms),
    queued_max_ms: whole(times?.firstClaimMaxMs),
  };
}

function countsView(counts: StatusCounts | undefined) {
  const { queued = 0, running = 0, waiting = 0, succeeded = 0, failed = 0, cancelled = 0 } = counts ?? {};
  return { queued, running, waiting, succeeded, failed, cancelled };
}

function whole(ms: number | undefined): number {
  return Math.round(ms ?? 0);
}

function refused(field: string, message: string): ServiceError {
  return new ServiceError('invalid_request', message, { findings: [{ path: `/${field}`, code: field, message }] });
}

// A query holds only texts, and the request check converts nothing.
const readBuckets: preValidationHookHandler = (request, _reply, done) => {
  const query = request.query as Record<string, unknown>;
  if (typeof query.buckets === 'string' && /^\d{1,9}$/.test(query.buckets)) query.buckets = Number(query.buckets);
  done();
};
