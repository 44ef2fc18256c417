// GET …/runs: lists an organization's runs, newest first. For people, also the records of local runs.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { Run } from '@methods/api/run';
import { bareMethodId, type OrgId, productionMethodId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { ListRuns } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { localRunView, runStatusNumber, runSummaryJson } from '../../views/run-view.ts';
import { PageFields, pageRequest, queryTime, readLimit } from '../page-query.ts';
import { replies } from '../reply-schemas.ts';
import { describedRun, type RunSurface } from './run-acts.ts';
import type { RunRouteParts } from './run-reply.ts';

type Query = Static<typeof UserRunsQuery>;

const METADATA = 'metadata.';
const METADATA_PAIRS_MAX = 32;

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
      return query.kind === 'local' ? localRuns(parts, orgId, query) : productionRuns(parts, orgId, query, request.id);
    });
}

/** A page of runs as JSON. */
export async function productionRuns(
  { scheduler, clock }: Pick<RunRouteParts, 'scheduler' | 'clock'>,
  orgId: OrgId,
  query: Query,
  requestId: string,
): Promise<string> {
  const list = listOf(orgId, query);
  if (list === null) return page([], '');
  const { runs, nextCursor } = await scheduler.listRuns(list, requestId);
  const nowMs = clock.wallMs();
  return page(
    runs.map((run) => runSummaryJson(run, nowMs)),
    nextCursor,
  );
}

async function localRuns({ registryCalls }: RunRouteParts, orgId: OrgId, query: Query): Promise<string> {
  if (query.created_after ?? query.created_before ?? metadataOf(query)[0]) {
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

/** Null for a filter that no run can match. */
function listOf(orgId: OrgId, query: Query): ListRuns | null {
  const methodId = query.method === undefined ? '' : bareMethodId(query.method);
  const metadata = metadataOf(query);
  if (metadata.length > METADATA_PAIRS_MAX) throw tooManyPairs();
  if (methodId === null) return null;
  return {
    $typeName: 'methods.scheduler.v1.ListRuns',
    orgId,
    ...pageRequest(query),
    status: query.status === undefined ? 0 : runStatusNumber(query.status),
    method: methodId === '' ? '' : productionMethodId(methodId),
    metadata: Object.fromEntries(metadata),
    createdAfterMs: queryTime(query, 'created_after') ?? 0,
    // No run is older than the epoch, and 0 would mean any time.
    createdBeforeMs: query.created_before === undefined ? 0 : Math.max(queryTime(query, 'created_before') ?? 0, 1),
  };
}

function metadataOf(query: Query): [string, string][] {
  const pairs = Object.entries(query as Record<string, string>).filter(([name]) => name.startsWith(METADATA));
  return pairs.map(([name, value]) => [name.slice(METADATA.length), value]);
}

function tooManyPairs(): ServiceError {
  const message = `A run has at most ${METADATA_PAIRS_MAX} metadata entries.`;
  return new ServiceError('invalid_request', message, {
    findings: [{ path: '/metadata', code: 'metadata_pairs', message }],
  });
}

function page(items: readonly string[], nextCursor: string): string {
  return `{"items":[${items.join(',')}],"next_cursor":${JSON.stringify(nextCursor || null)}}`;
}

const STATUSES = ['queued', 'running', 'waiting', 'succeeded', 'failed', 'cancelled'] as const;
/** The schemas of lists of runs, and of the records of local runs. */
type StatusName = (typeof STATUSES)[number];

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

const UserRunsQuery = Type.Object(
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

const LIST_DESCRIPTION =
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

const UserRunPage = Type.Object({
  items: Type.Array(Type.Union([RunSummary, Type.Object(localFields)])),
  next_cursor: TextOrNull,
});
