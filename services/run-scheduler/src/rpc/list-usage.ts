// ListUsage: sums over an organization's runs. Any node reads them.
import type { MessageInitShape } from '@bufbuild/protobuf';
import { isId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { storageFault } from '@methods/postgres/storage-fault';
import type { ListUsageRequest, ListUsageResponseSchema } from '@methods/proto/scheduler/v1/usage_service_pb';
import type { DayUsage, RunUsage } from '../store/run-usage.ts';
import { cursorOf, placeOf } from './list-runs.ts';
import type { RestedTurns } from './rested-turns.ts';

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
    // Later than: the first millisecond of the day belongs to it.
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
