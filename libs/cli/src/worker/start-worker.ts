// The worker inside this process.

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@methods/base/clock';
import type { ProductionId } from '@methods/base/ids';
import { StepFetch } from '@methods/executor/step-fetch';
import { Worker } from '@methods/worker/worker';
import type { Config } from '../config.ts';
import type { WorkerReport } from './worker-report.ts';

/** Less than the process has after its first interrupt. */
const DRAIN_MS = 10_000;

export interface StartedWorkerOptions {
  /** Of the run-schedulers: `host:port`, or `https://host:port` over TLS. */
  readonly addresses: readonly string[];
  readonly authPart: string;
  readonly contentPart?: string | undefined;
  /** With a sign-in: returns its present token, or another one than the `refused` one. */
  readonly renewedToken?: (refused: boolean) => Promise<string>;
  readonly methods: readonly ProductionId[];
  readonly name?: string | undefined;
  readonly concurrency: number;
  readonly sandbox: boolean;
}

export async function startWorker(options: StartedWorkerOptions, report: WorkerReport, config: Config) {
  const stepFetch = new StepFetch();
  const folder = join(config.cacheDir ?? tmpdir(), 'methods');
  // The key is the worker's own: a step that could read it could act for the whole organization.
  const secrets = new Map([...config.variables].filter(([name]) => name !== 'SERVICE_API_KEY'));
  const { renewedToken } = options;
  const worker = new Worker({
    ...options,
    ...(renewedToken !== undefined && { renewedToken: (refused) => report.renewal(() => renewedToken(refused)) }),
    secrets,
    dataDir: join(folder, 'worker'),
    cacheDir: join(folder, 'environments'),
    allowInstallScripts: false,
    path: config.path,
    fetch: stepFetch.fetch,
    clock: systemClock,
    logger: report.logger,
    drainMs: DRAIN_MS,
    onConnected: () => report.connected(),
    onResult: (run, result) => report.result(run, result),
    onRunEnded: (run, end) => report.runEnded(run, end),
  });
  report.isolated(worker.isolation.text);
  await worker.start();
  return {
    stop: async () => {
      await worker.stop();
      await stepFetch.stop();
    },
  };
}
