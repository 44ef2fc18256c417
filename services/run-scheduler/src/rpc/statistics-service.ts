// The gateways' calls for counts of runs, failures by cause, and queues.
import type { MessageInitShape } from '@bufbuild/protobuf';
import { isId, type KeyId, type OrgId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { storageFault } from '@methods/postgres/database-fault';
import type {
  CountRunsRequest,
  CountRunsResponseSchema,
  GroupFailuresRequest,
  ListQueuesRequest,
  StatisticsService,
} from '@methods/proto/scheduler/v1/statistics_service_pb';
import type { ServiceImplementation } from '@methods/rpc/service-definition';
import type { QueueInterests } from '../queue/queue-interests.ts';
import { queueParts } from '../store/queue-key.ts';
import { COUNTED_MAX, QUEUES_MAX, type QueueList, type QueueRow } from '../store/queue-list.ts';
import type { CountRow, RunStatistics } from '../store/run-statistics.ts';
import { failureGroups } from './failure-groups.ts';
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
