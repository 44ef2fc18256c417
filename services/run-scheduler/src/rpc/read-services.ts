// The services that read an organization's runs from the database for people: totals, counts, and parts of single runs.
// Each has turns of its own, so that an organization that watches much still opens its runs.
import type { Clock } from '@methods/base/clock';
import type { OrganizationReader } from '@methods/postgres/organization-reader';
import { RunPartsService } from '@methods/proto/scheduler/v1/run_parts_service_pb';
import { StatisticsService } from '@methods/proto/scheduler/v1/statistics_service_pb';
import { UsageService } from '@methods/proto/scheduler/v1/usage_service_pb';
import { served } from '@methods/rpc/server';
import type { QueueInterests } from '../queue/queue-interests.ts';
import { QueueList } from '../store/queue-list.ts';
import { RunParts } from '../store/run-parts.ts';
import { RunStatistics } from '../store/run-statistics.ts';
import { RunUsage } from '../store/run-usage.ts';
import { listUsage } from './lists.ts';
import { RestedTurns } from './rested-turns.ts';
import { RunPartsRpc } from './run-parts-service.ts';
import { StatisticsRpc } from './statistics-service.ts';

/** A thousand paths of steps, which are long where calls and loops are nested. */
const MEASURE_REQUEST_BYTES_MAX = 2 * 1024 * 1024;

interface ReadOptions {
  readonly reader: OrganizationReader;
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly interests: Pick<QueueInterests, 'whyWaits'>;
}

export function readServices({ reader, deadlineMs, clock, interests }: ReadOptions) {
  const options = { reader, deadlineMs };
  const usage = new RunUsage(options);
  const usageTurns = new RestedTurns('usage', clock);
  const queues = new QueueList(options);
  const statistics = new StatisticsRpc({
    ...{ statistics: new RunStatistics(options), queues, interests },
    turns: new RestedTurns('statistics', clock),
  });
  const parts = new RunPartsRpc({
    ...{ parts: new RunParts(options), queues },
    turns: new RestedTurns('parts of runs', clock),
  });
  return [
    served(UsageService, { listUsage: (request) => listUsage(usage, usageTurns, request) }),
    served(StatisticsService, statistics.handlers),
    served(RunPartsService, parts.handlers, { measureSteps: MEASURE_REQUEST_BYTES_MAX }),
  ];
}
