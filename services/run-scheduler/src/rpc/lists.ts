// Pages of an organization's runs, totals of them, and the workers connected to this node. They need no actor and no
// shard, so any node reads them.
import type { MessageInitShape } from '@bufbuild/protobuf';
import { isId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { storageFault } from '@methods/postgres/database-fault';
import type { RunStatus } from '@methods/proto/run/v1/run_pb';
import type { ListRuns, RunPageSchema } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import type { ListUsageRequest, ListUsageResponseSchema } from '@methods/proto/scheduler/v1/usage_service_pb';
import type { ListWorkersRequest } from '@methods/proto/scheduler/v1/worker_list_service_pb';
import { isFinal, type Run } from '../run/run.ts';
import type { RunFilter } from '../store/run-filter.ts';
import type { ListedRun, RunLists, RunPlace } from '../store/run-lists.ts';
import type { DayUsage, RunUsage } from '../store/run-usage.ts';
import { type RunViewMessage, runStatusNames, runStatusNumber, shownView } from '../wire/run-message.ts';
import type { WorkerSessions } from '../worker-stream/worker-sessions.ts';
import type { RestedTurns } from './rested-turns.ts';

type RunPageMessage = MessageInitShape<typeof RunPageSchema>;

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;

/** @throws ServiceError invalid_request for a cursor that this list did not issue; unavailable without the database. */
export async function listRuns(lists: Pick<RunLists, 'page'>, request: ListRuns): Promise<RunPageMessage> {
  const selection = {
    orgId: request.orgId,
    after: request.cursor === '' ? null : placeOf(request.cursor),
    limit: Math.min(request.limit || LIMIT_DEFAULT, LIMIT_MAX),
    ...filterOf(request),
    createdAfterMs: request.createdAfterMs > 0 ? Math.floor(request.createdAfterMs) : null,
    createdBeforeMs: request.createdBeforeMs > 0 ? Math.ceil(request.createdBeforeMs) : null,
    rerunOf: request.rerunOf,
  };
  try {
    const { runs, next, searchedToMs } = await lists.page(selection);
    return {
      runs: runs.map((run) => listedView(run, request.errorLines)),
      nextCursor: next === null ? '' : cursorOf(next),
      searchedToMs: searchedToMs ?? 0,
    };
  } catch (error) {
    throw storageFault(error);
  }
}

type FilterFields = Pick<ListRuns, 'status' | 'method' | 'versionId' | 'startedBy' | 'metadata' | 'text'>;

/** Reads the filter of a request. */
function filterOf({ status, method, versionId, startedBy, metadata, text }: FilterFields): RunFilter {
  return { statuses: statusesOf(status), method, versionId, startedBy, metadata, text };
}

/** Reads the filter and the times of a request that is about all runs. @throws not_found without an organization */
export function selectionOf(runs: ListRuns | undefined) {
  if (runs === undefined || !isId('org', runs.orgId)) throw new ServiceError('not_found');
  return {
    orgId: runs.orgId,
    after: null,
    ...filterOf(runs),
    createdAfterMs: runs.createdAfterMs > 0 ? Math.floor(runs.createdAfterMs) : null,
    createdBeforeMs: runs.createdBeforeMs > 0 ? Math.ceil(runs.createdBeforeMs) : null,
  };
}

/** A sleeping run is reported as queued, so the filter "queued" includes it. */
function statusesOf(status: RunStatus): Run['status'][] {
  return runStatusNames().filter((name) => runStatusNumber(name) === status);
}

function cursorOf({ createdAtMs, runId }: RunPlace): string {
  return Buffer.from(`${createdAtMs}/${runId}`).toString('base64url');
}

function placeOf(cursor: string): RunPlace {
  const [createdAt = '', runId = '', ...more] = Buffer.from(cursor.slice(0, 128), 'base64url').toString().split('/');
  if (more.length === 0 && /^\d{1,15}$/.test(createdAt) && isId('run', runId)) {
    const place = { createdAtMs: Number(createdAt), runId };
    // Node decodes base64 leniently; only a cursor that we issued is accepted.
    if (cursorOf(place) === cursor) return place;
  }
  throw new ServiceError('invalid_request', 'The cursor is not one of this list.', {
    findings: [{ path: '/cursor', code: 'cursor', message: 'Use next_cursor unchanged.' }],
  });
}

function listedView(run: ListedRun, errorLines: boolean): RunViewMessage {
  const { firstLine = '', ...error } = run.error ?? {};
  return {
    ...shownView(run.facts, run),
    ...(run.error === null ? {} : { error: { ...error, message: errorLines ? firstLine : '' } }),
    ...(run.ending === null || isFinal(run.status) ? {} : { ending: run.ending }),
  };
}

// ListUsage: totals of an organization's runs. Any node reads them.

const DAY_MS = 86_400_000;

/** @throws ServiceError invalid_request for a cursor that this list did not issue; unavailable without the database. */
export async function listUsage(
  usage: Pick<RunUsage, 'page'>,
  turns: Pick<RestedTurns, 'run'>,
  request: ListUsageRequest,
): Promise<MessageInitShape<typeof ListUsageResponseSchema>> {
  const { orgId, fromMs, beforeMs, method, cursor } = request;
  if (!isId('org', orgId)) throw new ServiceError('not_found');
  const selection = {
    orgId,
    method,
    after: cursor === '' ? null : placeOf(cursor),
    // `createdAfterMs` is exclusive, and the first millisecond of the day belongs to it.
    createdAfterMs: Math.floor(fromMs) - 1,
    createdBeforeMs: Math.ceil(beforeMs),
  };
  try {
    const { rows, next } = await turns.run(orgId, () => usage.page(selection));
    return { rows: rows.map(rowMessage), nextCursor: next === null ? '' : cursorOf(next) };
  } catch (error) {
    throw storageFault(error);
  }
}

function rowMessage({ day, queued, running, answering, ...sums }: DayUsage) {
  const [queuedP50Ms, queuedP95Ms] = queued ?? [0, 0];
  const [runningP50Ms, runningP95Ms] = running ?? [0, 0];
  const [answeringP50Ms, answeringP95Ms] = answering ?? [0, 0];
  const times = { queuedP50Ms, queuedP95Ms, runningP50Ms, runningP95Ms, answeringP50Ms, answeringP95Ms };
  return { ...sums, dayMs: day * DAY_MS, ...times };
}

const LISTED_MAX = 500;

/** ListWorkers: the workers of an organization that are connected to this node. */
export async function listWorkers(sessions: Pick<WorkerSessions, 'list'>, { orgId }: ListWorkersRequest) {
  if (!isId('org', orgId)) throw new ServiceError('not_found');
  const workers = sessions.list(orgId).toSorted((a, b) => b.connectedAtMs - a.connectedAtMs);
  return {
    workers: workers.slice(0, LISTED_MAX).map(({ methods, features, ...worker }) => ({
      ...worker,
      methods: [...methods],
      features: [...features],
    })),
    count: workers.length,
  };
}
