// The schemas of lists of runs, and of the records of local runs.

import { Run } from '@methods/api/run';
import { Type } from 'typebox';
import { PageFields } from '../page-query.ts';

const STATUSES = ['queued', 'running', 'waiting', 'succeeded', 'failed', 'cancelled'] as const;
export type StatusName = (typeof STATUSES)[number];

const Time = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' });
const TextOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'] });

const filters = {
  ...PageFields,
  status: Type.Optional(Type.Unsafe<StatusName>({ type: 'string', enum: [...STATUSES] })),
  method: Type.Optional(Type.String({ maxLength: 64, description: 'A method id, wf_… or bare.' })),
  created_after: Type.Optional(Type.String({ maxLength: 64, description: 'RFC 3339; later than this.' })),
  created_before: Type.Optional(Type.String({ maxLength: 64, description: 'RFC 3339; earlier than this.' })),
};

/** Any `metadata.<key>`. A decoded message cannot hold the name __proto__, so no run has it as a key either. */
const Closed = {
  additionalProperties: false,
  patternProperties: { '^metadata\\.(?!__proto__$)[\\s\\S]{1,64}$': { type: 'string', maxLength: 512 } },
} as const;

export const RunsQuery = Type.Object(filters, Closed);

export const UserRunsQuery = Type.Object(
  {
    ...filters,
    kind: Type.Optional(
      Type.Unsafe<'production' | 'local'>({
        type: 'string',
        enum: ['production', 'local'],
        description: 'Runs on workers (default), or the records of runs on people’s own computers.',
      }),
    ),
  },
  Closed,
);

export const LIST_DESCRIPTION =
  'Newest first. `metadata.<key>=<value>` selects by one pair of the metadata, several by all of them. A page with a ' +
  'filter looks at a bounded number of runs: it may hold fewer than `limit`, even none, while `next_cursor` is set.';

const { steps: _steps, question: _question, result: _result, error: _error, ...summary } = Run.properties;

const RunSummary = Type.Object(
  {
    ...summary,
    error: Type.Optional(
      Type.Object({ code: Type.String(), kind: Type.Optional(Type.String()), step: Type.Optional(Type.String()) }),
    ),
  },
  { description: 'A run without its steps and content.' },
);

const localFields = {
  run_id: Type.String(),
  kind: Type.Unsafe<'local'>({ type: 'string', enum: ['local'] }),
  method: Type.String(),
  version_id: Type.String(),
  status: TextOrNull,
  sequence: Type.Integer({ description: 'Of the record; grows with each upload.' }),
  created_at: Time,
  updated_at: Time,
  created_by: Type.Unsafe<object | null>({ type: ['object', 'null'] }),
};

export const LocalRun = Type.Object(
  { ...localFields, inspection: Type.Unsafe<unknown>({ description: 'As the command line uploaded it.' }) },
  { description: 'The record of a run on a person’s own computer.' },
);

export const RunPage = Type.Object({ items: Type.Array(RunSummary), next_cursor: TextOrNull });

export const UserRunPage = Type.Object({
  items: Type.Array(Type.Union([RunSummary, Type.Object(localFields)])),
  next_cursor: TextOrNull,
});
