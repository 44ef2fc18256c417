// One run of a method without a service: its walk, its runners, and nothing recorded.
import { systemClock } from '@methods/base/clock';
import { executeRun } from '@methods/executor/execute-run';
import type { PreparedEnvironment } from '@methods/executor/prepared-environment';
import { RunFolder } from '@methods/executor/run-folder';
import type { RunnerPool } from '@methods/executor/runner-pool';
import type { CompiledMethod } from '@methods/method/compiled-method';
import type { JsonObject } from '@methods/method/json';

let serial = 0;

export interface OneRun {
  readonly method: CompiledMethod;
  readonly inputs: JsonObject;
  readonly runners: RunnerPool;
  readonly folder: string;
  readonly environment?: PreparedEnvironment;
}

/** From the start of the run to its result, in ms. Throws when the run does not succeed. */
export async function oneRunMs({ method, inputs, runners, folder, ...more }: OneRun): Promise<number> {
  const runId = `run_${++serial}` as const;
  const startedMs = performance.now();
  const outcome = await executeRun({
    runId,
    versionId: `ver_${method.name}`,
    startedAtMs: 0,
    method,
    inputs,
    finished: new Map(),
    secrets: new Map(),
    journal: { stepEnded: () => Promise.resolve() },
    runners,
    fetch,
    folder: RunFolder.create(folder, runId),
    signal: new AbortController().signal,
    clock: systemClock,
    ...more,
  });
  if (outcome.status !== 'succeeded') throw new Error(`the run did not succeed: ${JSON.stringify(outcome)}`);
  return performance.now() - startedMs;
}
