// list: a page of an organization's runs. Any node reads it: it needs no actor and no shard.
import type { MessageInitShape } from '@bufbuild/protobuf';
import { isId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { storageFault } from '@methods/postgres/storage-fault';
import type { RunStatus } from '@methods/proto/run/v1/run_pb';
import type { ListRuns, RunPageSchema } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import type { Run } from '../run/run.ts';
import type { ListedRun } from '../store/listed-run.ts';
import type { RunLists, RunPlace } from '../store/run-lists.ts';
import { answererNumber, type RunViewMessage, runStatusNames, runStatusNumber } from '../wire/run-message.ts';

export type RunPageMessage = MessageInitShape<typeof RunPageSchema>;

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;

/** @throws ServiceError invalid_request for a cursor that this list did not issue; unavailable without the database. */
export async function listRuns(lists: Pick<RunLists, 'page'>, request: ListRuns): Promise<RunPageMessage> {
  const selection = {
    orgId: request.orgId,
    after: request.cursor === '' ? null : placeOf(request.cursor),
    limit: Math.min(request.limit || LIMIT_DEFAULT, LIMIT_MAX),
    statuses: statusesOf(request.status),
    method: request.method,
    metadata: request.metadata,
    createdAfterMs: request.createdAfterMs > 0 ? Math.floor(request.createdAfterMs) : null,
    createdBeforeMs: request.createdBeforeMs > 0 ? Math.ceil(request.createdBeforeMs) : null,
  };
  try {
    const { runs, next } = await lists.page(selection);
    return { runs: runs.map(listedView), nextCursor: next === null ? '' : cursorOf(next) };
  } catch (error) {
    throw storageFault(error);
  }
}

/** A sleeping run is reported as queued, so the filter "queued" includes it. */
function statusesOf(status: RunStatus): Run['status'][] {
  return runStatusNames().filter((name) => runStatusNumber(name) === status);
}

export function cursorOf({ createdAtMs, runId }: RunPlace): string {
  return Buffer.from(`${createdAtMs}/${runId}`).toString('base64url');
}

export function placeOf(cursor: string): RunPlace {
  const [createdAt = '', runId = '', ...more] = Buffer.from(cursor.slice(0, 128), 'base64url').toString().split('/');
  if (more.length === 0 && /^\d{1,15}$/.test(createdAt) && isId('run', runId)) {
    const place = { createdAtMs: Number(createdAt), runId };
    // Node reads base64 leniently; only what we gave out is a cursor.
    if (cursorOf(place) === cursor) return place;
  }
  throw new ServiceError('invalid_request', 'The cursor is not one of this list.', {
    findings: [{ path: '/cursor', code: 'cursor', message: 'Use next_cursor unchanged.' }],
  });
}

function listedView(run: ListedRun): RunViewMessage {
  const finished = run.status === 'succeeded' || run.status === 'failed' || run.status === 'cancelled';
  return {
    runId: run.runId,
    method: run.method,
    versionId: run.versionId,
    status: runStatusNumber(run.status),
    attempts: run.attempts,
    maxAttempts: run.maxAttempts,
    answerBy: answererNumber(run.answerBy),
    metadata: run.metadata,
    timing: {
      createdAtMs: run.createdAtMs,
      startedAtMs: run.startedAtMs ?? 0,
      waitingSinceMs: run.status === 'waiting' ? run.stateSinceMs : 0,
      finishedAtMs: finished ? run.stateSinceMs : 0,
      ...run.spans,
      stateSinceMs: run.stateSinceMs,
    },
    cancelRequested: run.status === 'running' && run.cancelRequested,
    revision: run.revision,
    ...(run.error === null ? {} : { error: run.error }),
    ...(run.ending === null || finished ? {} : { ending: run.ending }),
    ...(run.status === 'sleeping' ? { queuedReason: 'sleeping', wakeAtMs: run.wakeAtMs ?? 0 } : {}),
  };
}
