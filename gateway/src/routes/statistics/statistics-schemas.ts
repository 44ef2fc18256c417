// The shapes of counts of runs, failures by cause, queues and warnings.
import { Type } from 'typebox';
import { ClosedButMetadata, FilterFields } from '../runs/run-filter.ts';

const Time = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' });
const Ms = Type.Integer({ minimum: 0 });
const BUCKETS_MAX = 200;

export const LAST = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000, '30d': 2_592_000_000 } as const;
export type Last = keyof typeof LAST;

export const CountQuery = Type.Object(
  {
    ...FilterFields,
    last: Type.Optional(
      Type.Unsafe<Last>({
        type: 'string',
        enum: Object.keys(LAST),
        description: 'Runs created in this time until now, in place of created_after and created_before. Default: 24h.',
      }),
    ),
    buckets: Type.Optional(Type.Integer({ minimum: 1, maximum: BUCKETS_MAX, description: 'Default: 96.' })),
  },
  ClosedButMetadata,
);

export const FailuresQuery = Type.Object(FilterFields, ClosedButMetadata);

const counts = {
  queued: Type.Integer(),
  running: Type.Integer(),
  waiting: Type.Integer(),
  succeeded: Type.Integer(),
  failed: Type.Integer(),
  cancelled: Type.Integer(),
};
const Percentiles = (description: string) => Type.Object({ p50: Ms, p95: Ms }, { description });
const SearchedTo = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  format: 'date-time',
  description: 'With complete false: only runs created since then were looked at.',
});

export const RunStatistics = Type.Object({
  from: Type.String({ format: 'date-time' }),
  to: Type.String({ format: 'date-time' }),
  bucket_ms: Ms,
  looked_at: Type.Integer({ description: 'At most 100,000 runs.' }),
  complete: Type.Boolean({ description: 'All runs of the time were counted.' }),
  searched_to: SearchedTo,
  totals: Type.Object(counts),
  running_ms: Percentiles('Of runs that succeeded or failed.'),
  queued_ms: Percentiles('Of runs that succeeded or failed.'),
  buckets: Type.Array(
    Type.Object({
      at: Type.String({ format: 'date-time' }),
      ...counts,
      running_p50_ms: Ms,
      running_p95_ms: Ms,
      queued_max_ms: Type.Integer({ description: 'The longest time from a start to its first worker.' }),
    }),
    { description: 'By the time the runs were created, the oldest first; also empty ones.' },
  ),
  methods: Type.Array(Type.Object({ method: Type.String({ description: 'wf_…' }), ...counts }), {
    description: 'The 200 methods with the most runs.',
  }),
});

export const FailureGroups = Type.Object({
  items: Type.Array(
    Type.Object({
      method: Type.String({ description: 'wf_…' }),
      step: Type.String({ description: 'Empty: none. Rounds of a loop are one step, each[#].' }),
      code: Type.String(),
      message: Type.String({
        description: 'Its first line, with # in place of ids and numbers; empty in device mode.',
      }),
      count: Type.Integer(),
      newest: Type.Object({ run_id: Type.String(), at: Time }),
      oldest_at: Time,
      run_ids: Type.Array(Type.String(), { description: 'The newest first.' }),
    }),
    { description: 'The largest first, at most 100.' },
  ),
  matches: Type.Integer({ description: 'Failed runs that were grouped: the newest 1,000 at most.' }),
  complete: Type.Boolean(),
  searched_to: SearchedTo,
});

const REASONS = ['no_worker', 'feature_missing', 'key_missing'] as const;
export type QueueReason = (typeof REASONS)[number];
export const QUEUE_REASONS: readonly QueueReason[] = REASONS;

const queueFields = {
  method: Type.String({ description: 'wf_…' }),
  needs: Type.Array(Type.String(), { description: 'Features that its runs need and only some workers have.' }),
  waiting: Type.Integer({ description: 'At most 1,000.' }),
  more: Type.Boolean({ description: 'More runs wait than that.' }),
  oldest_queued_at: Time,
};

export const Queues = Type.Object({
  items: Type.Array(
    Type.Object({
      ...queueFields,
      key_id: Type.Optional(Type.String({ description: 'The key that sealed its runs.' })),
      reason: Type.Unsafe<QueueReason | null>({
        type: ['string', 'null'],
        enum: [...REASONS, null],
        description: 'Why no worker takes its runs; null: a worker may.',
      }),
    }),
    { description: 'By method, at most 200.' },
  ),
  next_cursor: Type.Null(),
  complete: Type.Boolean({ description: 'false: there are more queues.' }),
});

export const Warnings = Type.Object({
  items: Type.Array(
    Type.Object({
      kind: Type.Unsafe<string>({
        type: 'string',
        enum: [...REASONS, 'deliveries_exhausted', 'questions_due'],
        description: 'questions_due: open questions whose deadline is within an hour.',
      }),
      method: Type.Optional(Type.String()),
      needs: Type.Optional(Type.Array(Type.String())),
      count: Type.Integer(),
      more: Type.Boolean({ description: 'There are more than that.' }),
      since: Type.Optional(Time),
    }),
  ),
  queue: Type.Object(
    { count: Type.Integer(), more: Type.Boolean(), oldest_queued_at: Time },
    { description: 'All runs that wait for a worker.' },
  ),
  complete: Type.Boolean({ description: 'false: a part of the server did not answer, or there are more queues.' }),
});
