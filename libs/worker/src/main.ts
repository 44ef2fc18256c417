// Runs the worker as a process. On SIGTERM or SIGINT it lets go of the runs it holds.
import { systemClock } from '@methods/base/clock';
import { StepFetch } from '@methods/executor/step-fetch';
import { runService } from '@methods/service/run-service';
import { readConfig } from './config.ts';
import { Worker } from './worker.ts';

const AFTER_DRAIN_MS = 10_000;

runService({
  name: 'worker',
  readConfig: () => readConfig(),
  stopLimitMs: (config) => config.drainMs + AFTER_DRAIN_MS,
  compose: (config, logger) => {
    const stepFetch = new StepFetch();
    const worker = new Worker({
      ...config,
      fetch: stepFetch.fetch,
      clock: systemClock,
      logger,
      // The parent process waits for this line.
      onConnected: () => process.stdout.write('{"ready":true}\n'),
    });
    return {
      start: () => worker.start(),
      stop: async () => {
        await worker.stop();
        await stepFetch.stop();
      },
    };
  },
});
