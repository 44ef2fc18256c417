// The filter of runs as queries and bodies spell it, for lists, counts and bulk changes.
import { bareMethodId, isId, productionMethodId, type VersionId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { ListRuns } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { type Static, Type } from 'typebox';
import { runStatusNumber } from '../../views/run-view.ts';
import { queryTime } from '../page-query.ts';

const STATUSES = ['queued', 'running', 'waiting', 'succeeded', 'failed', 'cancelled'] as const;
type StatusName = (typeof STATUSES)[number];

const METADATA = 'metadata.';
const METADATA_PAIRS_MAX = 32;

export const FilterFields = {
  status: Type.Optional(Type.Unsafe<StatusName>({ type: 'string', enum: [...STATUSES] })),
  method: Type.Optional(Type.String({ maxLength: 64, description: 'A method id, wf_… or bare.' })),
  version: Type.Optional(Type.String({ maxLength: 64, description: 'A version id, ver_…' })),
  started_by: Type.Optional(
    Type.String({ maxLength: 64, description: 'The key or the person that started it: key_… or usr_…' }),
  ),
  text: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'In the id, the metadata or the error of the run, in any case.',
    }),
  ),
  created_after: Type.Optional(Type.String({ maxLength: 64, description: 'RFC 3339; later than this.' })),
  created_before: Type.Optional(Type.String({ maxLength: 64, description: 'RFC 3339; earlier than this.' })),
};

/** Any `metadata.<key>`. A decoded message cannot hold the name __proto__, so no run has it as a key either. */
export const ClosedButMetadata = {
  additionalProperties: false,
  patternProperties: { '^metadata\\.(?!__proto__$)[\\s\\S]{1,64}$': { type: 'string', maxLength: 512 } },
} as const;

const FilterQuery = Type.Object(FilterFields);
type FilterQuery = Static<typeof FilterQuery>;

export type FilterMessage = Pick<
  ListRuns,
  'status' | 'method' | 'versionId' | 'startedBy' | 'text' | 'metadata' | 'createdAfterMs' | 'createdBeforeMs'
>;

/** Null for a filter that no run can match. @throws ServiceError invalid_request */
export function filterOf(query: FilterQuery): FilterMessage | null {
  const { version = '', started_by: startedBy = '' } = query;
  const methodId = query.method === undefined ? '' : bareMethodId(query.method);
  const metadata = metadataOf(query);
  if (metadata.length > METADATA_PAIRS_MAX) throw tooManyPairs();
  const times = timesOf(query);
  if (methodId === null || !isVersion(version) || !isStarter(startedBy)) return null;
  return {
    status: query.status === undefined ? 0 : runStatusNumber(query.status),
    method: methodId === '' ? '' : productionMethodId(methodId),
    versionId: version,
    startedBy,
    text: query.text ?? '',
    metadata: Object.fromEntries(metadata),
    ...times,
  };
}

/** 0: any time. @throws ServiceError invalid_request */
function timesOf(query: Pick<FilterQuery, 'created_after' | 'created_before'>) {
  return {
    createdAfterMs: queryTime(query, 'created_after') ?? 0,
    // No run is older than the epoch, and 0 would mean any time.
    createdBeforeMs: query.created_before === undefined ? 0 : Math.max(queryTime(query, 'created_before') ?? 0, 1),
  };
}

function isVersion(text: string): text is VersionId | '' {
  return text === '' || isId('ver', text);
}

function isStarter(text: string): boolean {
  return text === '' || isId('key', text) || isId('usr', text);
}

export function metadataOf(query: object): [string, string][] {
  const pairs = Object.entries(query as Record<string, string>).filter(([name]) => name.startsWith(METADATA));
  return pairs.map(([name, value]) => [name.slice(METADATA.length), value]);
}

function tooManyPairs(): ServiceError {
  const message = `A run has at most ${METADATA_PAIRS_MAX} metadata entries.`;
  return new ServiceError('invalid_request', message, {
    findings: [{ path: '/metadata', code: 'metadata_pairs', message }],
  });
}
