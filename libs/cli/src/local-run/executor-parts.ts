// The resources of steps on this machine: runner processes and connections, which end with this process.
import { systemClock } from '@methods/base/clock';
import { RunnerPool } from '@methods/executor/runner-pool';
import { StepFetch } from '@methods/executor/step-fetch';
import type { Config } from '../config.ts';

/** Up to this many rounds of a loop run side by side, since people work on this machine. */
const RUNNERS_MAX = 4;

export interface ExecutorParts {
  readonly runners: RunnerPool;
  readonly fetch: typeof fetch;
  /** Running steps are killed with their children. */
  stop(): Promise<void>;
}

/** `folder`: where steps work; on the file system of the run folders, files move there without a copy. */
export function startExecutorParts(folder: string, config: Config): ExecutorParts {
  const web = new StepFetch();
  const runners = new RunnerPool({
    folder,
    runnersMax: RUNNERS_MAX,
    path: config.path,
    clock: systemClock,
    ...(config.lang === undefined ? {} : { lang: config.lang }),
  });
  runners.start();
  return {
    runners,
    fetch: web.fetch,
    stop: async () => {
      await runners.stop();
      await web.stop();
    },
  };
}
