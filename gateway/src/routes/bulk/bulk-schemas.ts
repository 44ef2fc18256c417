// The shapes of the routes of changes of many runs.
import { Party } from '@methods/api/question';
import { Type } from 'typebox';
import { PageFields } from '../page-query.ts';
import { FilterFields } from '../runs/run-filter.ts';

const Closed = { additionalProperties: false } as const;
const Time = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' });

export const ACTIONS = ['cancel', 'rerun', 'rerun_failed_step'] as const;
export type ActionName = (typeof ACTIONS)[number];
export const STATES = ['prepared', 'running', 'done', 'stopped'] as const;
export type StateName = (typeof STATES)[number];
export const ITEM_STATES = ['todo', 'done', 'failed'] as const;
export type ItemStateName = (typeof ITEM_STATES)[number];

const Action = Type.Unsafe<ActionName>({
  type: 'string',
  enum: [...ACTIONS],
  description: 'rerun_failed_step: runs that failed, each from the step that failed.',
});
const ItemState = Type.Unsafe<ItemStateName>({ type: 'string', enum: [...ITEM_STATES] });

export const BulkParams = Type.Object({ id: Type.String({ description: 'A change of many runs, bulk_…' }) });
export const BulksQuery = Type.Object(PageFields, Closed);
export const ItemsQuery = Type.Object({ ...PageFields, state: Type.Optional(ItemState) }, Closed);

export const PrepareBody = Type.Object(
  {
    action: Action,
    run_ids: Type.Optional(
      Type.Array(Type.String({ maxLength: 64 }), { minItems: 1, maxItems: 1_000, description: 'These runs.' }),
    ),
    filter: Type.Optional(
      Type.Object(
        {
          ...FilterFields,
          metadata: Type.Optional(
            Type.Record(Type.String({ maxLength: 64 }), Type.String({ maxLength: 512 }), { maxProperties: 32 }),
          ),
        },
        { ...Closed, description: 'All runs that the list of runs would show with it; {} is every run.' },
      ),
    ),
  },
  {
    ...Closed,
    examples: [{ action: 'cancel', filter: { status: 'queued', method: 'wf_01jf4q8y2mzx5k7w9r3t6b0c1d' } }],
  },
);

export const Bulk = Type.Object({
  id: Type.String({ description: 'bulk_…' }),
  action: Action,
  state: Type.Unsafe<StateName>({
    type: 'string',
    enum: [...STATES],
    description: 'prepared: nothing has happened yet. stopped: what is done stays done.',
  }),
  by: Party,
  created_at: Time,
  started_at: Time,
  finished_at: Time,
  counts: Type.Object({
    total: Type.Integer({ description: 'Runs that were fixed when it was prepared.' }),
    todo: Type.Integer(),
    done: Type.Integer(),
    failed: Type.Integer(),
  }),
  passed_over: Type.Array(Type.Object({ reason: Type.String(), count: Type.Integer() }), {
    description:
      'Runs that match but that the action does not apply to: finished, not_finished, not_failed, on_device (only a ' +
      'program with its content key runs it again), webhook (needs a service key), not_found.',
  }),
  more: Type.Boolean({ description: 'More runs match: the newest 50,000 of the newest 300,000 are in it.' }),
});

export const OneBulk = Type.Object({ bulk: Bulk });

export const Item = Type.Object({
  run_id: Type.String(),
  state: ItemState,
  reason: Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'The error code of a failed one.' }),
  new_run_id: Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'Of a rerun.' }),
});
