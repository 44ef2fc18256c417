// GET …/runs: lists an organization's runs, newest first. For people, also the records of local runs.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { Run } from '@methods/api/run';
import { bareMethodId, isId, type OrgId, type RunId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { jsonTime } from '../../views/content-view.ts';
import { localRunView, runSummaryJson } from '../../views/run-view.ts';
import { PageFields, pageRequest, readLimit } from '../page-query.ts';
import { replies } from '../reply-schemas.ts';
import { describedRun, type RunSurface } from './run-acts.ts';
import { ClosedButMetadata, FilterFields, filterOf, metadataOf } from './run-filter.ts';
import type { RunRouteParts } from './run-reply.ts';

type Query = Static<typeof UserRunsQuery>;

export function addListRuns(scope: FastifyInstance, parts: RunRouteParts, surface: RunSurface): void {
  const schema = {
    ...describedRun(surface, 'listRuns', 'List runs'),
    description: LIST_DESCRIPTION,
    querystring: surface.people ? UserRunsQuery : RunsQuery,
    response: replies({ 200: surface.people ? UserRunPage : RunPage }),
  };
  scope
    .withTypeProvider<TypeBoxTypeProvider>()
    .get(surface.url, { schema, config: { access: 'viewer' }, preValidation: readLimit }, async (request, reply) => {
      const { orgId } = callerOf(request);
      const query = request.query as Query;
      reply.header('content-type', JSON_TYPE);
      if (query.kind === 'local') return localRuns(parts, orgId, query);
      return productionRuns(parts, { orgId, requestId: request.id, people: surface.people }, query);
    });
}

/** A page of runs as JSON; for people with the first lines of errors. */
export async function productionRuns(
  { scheduler, clock, keyNames }: Pick<RunRouteParts, 'scheduler' | 'clock' | 'keyNames'>,
  { orgId, requestId, people }: { readonly orgId: OrgId; readonly requestId: string; readonly people: boolean },
  query: Query,
): Promise<string> {
  const filter = filterOf(query);
  const { rerun_of: rerunOf = '' } = query;
  if (filter === null || !isRunOrNone(rerunOf)) return page([], '', 0);
  const asked = { orgId, ...pageRequest(query), ...filter, errorLines: people, rerunOf };
  const list = { $typeName: 'methods.scheduler.v1.ListRuns' as const, ...asked };
  const { runs, nextCursor, searchedToMs } = await scheduler.listRuns(list, requestId);
  const named = people ? await keyNames.shownIn(orgId, runs) : runs;
  const nowMs = clock.wallMs();
  return page(
    named.map((run) => runSummaryJson(run, nowMs, { errorLine: people })),
    nextCursor,
    searchedToMs,
  );
}

function isRunOrNone(text: string): text is RunId | '' {
  return text === '' || isId('run', text);
}

async function localRuns({ registryCalls }: RunRouteParts, orgId: OrgId, query: Query): Promise<string> {
  if (
    query.created_after ??
    query.created_before ??
    query.version ??
    query.started_by ??
    query.text ??
    query.rerun_of ??
    metadataOf(query)[0]
  ) {
    throw new ServiceError('invalid_request', 'Local runs are selected only by "status" and "method".');
  }
  const methodId = query.method === undefined ? '' : bareMethodId(query.method);
  if (methodId === null) return page([], '');
  const { records, nextCursor } = await registryCalls.runRecords.listRunRecords({
    ...{ orgId, methodId, status: query.status ?? '' },
    ...pageRequest(query),
  });
  return page(
    records.map((record) => JSON.stringify(localRunView(record))),
    nextCursor,
  );
}

function page(items: readonly string[], nextCursor: string, searchedToMs?: number): string {
  const searched = searchedToMs === undefined ? '' : `,"searched_to":${jsonTime(searchedToMs)}`;
  return `{"items":[${items.join(',')}],"next_cursor":${JSON.stringify(nextCursor || null)}${searched}}`;
}

/** The schemas of lists of runs, and of the records of local runs. */
const Time = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' });
const TextOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'] });

const ListFields = {
  ...PageFields,
  ...FilterFields,
  rerun_of: Type.Optional(Type.String({ maxLength: 64, description: 'Only runs that repeat this one, run_….' })),
};

export const RunsQuery = Type.Object(ListFields, ClosedButMetadata);

const UserRunsQuery = Type.Object(
  {
    ...ListFields,
    kind: Type.Optional(
      Type.Unsafe<'production' | 'local'>({
        type: 'string',
        enum: ['production', 'local'],
        description: 'Runs on workers (default), or the records of runs on people’s own computers.',
      }),
    ),
  },
  ClosedButMetadata,
);

const LIST_DESCRIPTION =
  'Newest first. `metadata.<key>=<value>` selects by one pair of the metadata, several by all of them. A page with a ' +
  'filter looks at a bounded number of runs: it may hold fewer than `limit`, even none, while `next_cursor` is set. ' +
  '`searched_to` then says how far back it looked.';

const { steps: _steps, question: _question, result: _result, error: _error, ...summary } = Run.properties;

const RunSummary = Type.Object(
  {
    ...summary,
    error: Type.Optional(
      Type.Object({
        code: Type.String(),
        kind: Type.Optional(Type.String()),
        message: Type.Optional(
          Type.String({ description: 'For people: the first line, at most 300 characters; absent in device mode.' }),
        ),
        step: Type.Optional(Type.String()),
      }),
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

const SearchedTo = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  format: 'date-time',
  description: 'The page ends because it looked at enough runs: at those created since then. null: for another reason.',
});

export const RunPage = Type.Object({
  items: Type.Array(RunSummary),
  next_cursor: TextOrNull,
  searched_to: SearchedTo,
});

const UserRunPage = Type.Object({
  items: Type.Array(Type.Union([RunSummary, Type.Object(localFields)])),
  next_cursor: TextOrNull,
  searched_to: Type.Optional(SearchedTo),
});
