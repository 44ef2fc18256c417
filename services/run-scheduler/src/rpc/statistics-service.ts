// The gateways' calls for counts of runs, failures by cause, and queues.
import type { MessageInitShape } from '@bufbuild/protobuf';
import { isId, type KeyId, type OrgId, type ProductionId, type RunId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { storageFault } from '@methods/postgres/database-fault';
import {
  type CountRunsRequest,
  type CountRunsResponseSchema,
  type GroupFailuresRequest,
  type ListQueuesRequest,
  type StatisticsService,
} from '@methods/proto/scheduler/v1/statistics_service_pb';
import type { ServiceImplementation } from '@methods/rpc/service-definition';
import type { QueueInterests } from '../queue/queue-interests.ts';
import { queueParts } from '../store/queue-key.ts';
import { COUNTED_MAX, QUEUES_MAX, type QueueList, type QueueRow } from '../store/queue-list.ts';
import { type CountRow, type FailedRun, type RunStatistics } from '../store/run-statistics.ts';
import { selectionOf } from './lists.ts';
import type { RestedTurns } from './rested-turns.ts';

const BUCKETS_MAX = 200;
const METHODS_MAX = 200;

export class StatisticsRpc {
  constructor(
    private readonly options: {
      readonly statistics: Pick<RunStatistics, 'count' | 'failed'>;
      readonly queues: Pick<QueueList, 'all'>;
      readonly interests: Pick<QueueInterests, 'whyWaits'>;
      readonly turns: Pick<RestedTurns, 'run'>;
    },
  ) {}

  readonly handlers: ServiceImplementation<typeof StatisticsService> = {
    countRuns: (request) => this.count(request),
    groupFailures: (request) => this.group(request),
    listQueues: (request) => this.queues(request),
  };

  private async count({ runs, buckets }: CountRunsRequest): Promise<MessageInitShape<typeof CountRunsResponseSchema>> {
    const selection = selectionOf(runs);
    const { createdAfterMs, createdBeforeMs } = selection;
    if (createdAfterMs === null || createdBeforeMs === null || createdAfterMs >= createdBeforeMs) {
      throw new ServiceError('invalid_request', 'A count needs the times between which runs were created.');
    }
    const count = Math.min(Math.max(buckets, 1), BUCKETS_MAX);
    const bucketMs = Math.max(1, Math.ceil((createdBeforeMs - createdAfterMs - 1) / count));
    const asked = { ...selection, createdAfterMs, createdBeforeMs, bucketMs };
    const { rows, searchedToMs } = await this.read(selection.orgId, () => this.options.statistics.count(asked));
    const total = rows.find(({ bucket, method }) => bucket === null && method === null);
    const inOrder = rows.flatMap((row) => (row.bucket === null ? [] : [{ ...row, bucket: row.bucket }]));
    return {
      bucketMs,
      buckets: inOrder
        .toSorted((a, b) => a.bucket - b.bucket)
        .map((row) => ({
          atMs: createdAfterMs + 1 + row.bucket * bucketMs,
          counts: countsOf(row),
          times: timesOf(row),
        })),
      ...(total && { totals: countsOf(total), times: timesOf(total) }),
      methods: methodsOf(rows),
      lookedAt: total === undefined ? 0 : sumOf(total),
      searchedToMs: searchedToMs ?? 0,
    };
  }

  private async group({ runs }: GroupFailuresRequest) {
    const selection = selectionOf(runs);
    const found = await this.read(selection.orgId, () => this.options.statistics.failed(selection));
    return {
      groups: failureGroups(found.runs),
      matches: found.runs.length,
      searchedToMs: found.searchedToMs ?? 0,
    };
  }

  private async queues({ orgId }: ListQueuesRequest) {
    if (!isId('org', orgId)) throw new ServiceError('not_found');
    const rows = await this.read(orgId, () => this.options.queues.all(orgId));
    const queues = rows.slice(0, QUEUES_MAX).map((row) => this.queueOf(orgId, row));
    return { queues, more: rows.length > QUEUES_MAX };
  }

  private queueOf(orgId: OrgId, { method: name, waiting, oldestQueuedAtMs }: QueueRow) {
    const { method, needs, keyId } = queueParts(name);
    return {
      method,
      needs,
      keyId: keyId as KeyId,
      waiting: Math.min(waiting, COUNTED_MAX),
      more: waiting > COUNTED_MAX,
      oldestQueuedAtMs,
      reason: this.options.interests.whyWaits({ orgId, method: name }) ?? '',
    };
  }

  private async read<T>(orgId: OrgId, work: () => Promise<T>): Promise<T> {
    try {
      return await this.options.turns.run(orgId, work);
    } catch (error) {
      throw storageFault(error);
    }
  }
}

function countsOf({ queued, running, waiting, succeeded, failed, cancelled }: CountRow) {
  return { queued, running, waiting, succeeded, failed, cancelled };
}

function sumOf(row: CountRow): number {
  return Object.values(countsOf(row)).reduce((sum, count) => sum + count, 0);
}

function timesOf({ running_times: running, queued_times: queued, first_claim_max_ms: firstClaimMaxMs }: CountRow) {
  const [runningP50Ms, runningP95Ms] = running ?? [0, 0];
  const [queuedP50Ms, queuedP95Ms] = queued ?? [0, 0];
  return { runningP50Ms, runningP95Ms, queuedP50Ms, queuedP95Ms, firstClaimMaxMs: Math.max(0, firstClaimMaxMs ?? 0) };
}

function methodsOf(rows: readonly CountRow[]) {
  const counted = rows.flatMap((row) => (row.method === null ? [] : [{ method: row.method, row }]));
  const largest = counted.toSorted((a, b) => sumOf(b.row) - sumOf(a.row)).slice(0, METHODS_MAX);
  return largest.map(({ method, row }) => ({ method, counts: countsOf(row) }));
}

// Groups failed runs by their cause: method, step, code and the message without what differs from run to run.

interface FailureGroup {
  readonly method: ProductionId;
  readonly step: string;
  readonly code: string;
  readonly message: string;
  /** The newest first. */
  readonly runIds: RunId[];
  newestAtMs: number;
  oldestAtMs: number;
}

const GROUPS_MAX = 100;
const MESSAGE_CHARACTERS_MAX = 300;
/** Ids with a prefix, UUIDs, hex digests, times and numbers. Long ones first: a part of an id is none. */
const DIFFERING =
  /\b[a-z]{1,8}_[0-9A-Za-z]{16,}\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b(?=[0-9a-f]*\d)[0-9a-f]{12,}\b|\d+(?:[.,:\-T]\d+)*Z?/gi;

/** The runs are given newest first. Returns the largest groups. */
export function failureGroups(runs: readonly FailedRun[]): FailureGroup[] {
  const groups = new Map<string, FailureGroup>();
  for (const { runId, method, failedAtMs, isSealed, error } of runs) {
    // All rounds of a loop fail for the same cause.
    const step = error.step.replaceAll(/\[\d+\]/g, '[#]');
    const message = isSealed ? '' : causeOf(error.message);
    const key = JSON.stringify([method, step, error.code, message]);
    const group = groups.get(key);
    if (group === undefined) {
      const times = { newestAtMs: failedAtMs, oldestAtMs: failedAtMs };
      groups.set(key, { method, step, code: error.code, message, runIds: [runId], ...times });
    } else {
      group.runIds.push(runId);
      group.newestAtMs = Math.max(group.newestAtMs, failedAtMs);
      group.oldestAtMs = Math.min(group.oldestAtMs, failedAtMs);
    }
  }
  return [...groups.values()].toSorted((a, b) => b.runIds.length - a.runIds.length).slice(0, GROUPS_MAX);
}

/** A message may be long: only its beginning is read. */
function causeOf(message: string): string {
  const line = /^[^\r\n]*/.exec(message.slice(0, 4 * MESSAGE_CHARACTERS_MAX).trimStart())?.[0] ?? '';
  return [...line.replaceAll(DIFFERING, '#')].slice(0, MESSAGE_CHARACTERS_MAX).join('');
}
