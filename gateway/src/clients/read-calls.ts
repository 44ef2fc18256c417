// Calls to the run-schedulers for people who look after runs: totals, counts, parts of single runs, and changes of many.
import type { Stoppable } from '@methods/base/stoppable';
import { BulkService } from '@methods/proto/scheduler/v1/bulk_service_pb';
import { RunPartsService } from '@methods/proto/scheduler/v1/run_parts_service_pb';
import { StatisticsService } from '@methods/proto/scheduler/v1/statistics_service_pb';
import { UsageService } from '@methods/proto/scheduler/v1/usage_service_pb';
import { AnyNode } from './any-node.ts';

export class ReadCalls implements Stoppable {
  private readonly nodes;
  readonly usage;
  readonly statistics;
  readonly parts;
  readonly bulk;

  /** `host:port` of each node. */
  constructor(addresses: readonly string[]) {
    const usage = new AnyNode(UsageService, addresses);
    const statistics = new AnyNode(StatisticsService, addresses);
    const parts = new AnyNode(RunPartsService, addresses);
    const bulk = new AnyNode(BulkService, addresses);
    this.nodes = [usage, statistics, parts, bulk];
    this.usage = { list: usage.call('listUsage') };
    this.statistics = {
      count: statistics.call('countRuns'),
      failures: statistics.call('groupFailures'),
      queues: statistics.call('listQueues'),
    };
    this.parts = {
      measure: parts.call('measureSteps'),
      value: parts.call('readValue'),
      queuePlace: parts.call('getQueuePlace'),
      questions: parts.call('listRunQuestions'),
    };
    this.bulk = {
      prepare: bulk.call('prepareBulk'),
      start: bulk.call('startBulk'),
      stop: bulk.call('stopBulk'),
      get: bulk.call('getBulk'),
      list: bulk.call('listBulks'),
      items: bulk.call('listBulkItems'),
      take: bulk.call('takeBulkItems'),
      report: bulk.call('reportBulkItems'),
      idle: bulk.call('findIdleBulks'),
    };
  }

  stop(): void {
    for (const node of this.nodes) node.stop();
  }
}
