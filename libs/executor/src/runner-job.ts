// One node step on its way through a runner: what it needs, and what came of it.
import type { JsonValue } from '@methods/method/json';
import type { LogTail } from './log-tail.ts';
import type { CheckRecord } from './run-outcome.ts';
import type { StepFailure } from './step-failure.ts';

export interface RunnerJob {
  /** Which runners can take it; see `runnerKey`. */
  readonly runnerKey: string;
  readonly memoryMb: number;
  /** The environment's secrets: name to value. */
  readonly secrets: ReadonlyMap<string, string>;
  readonly step: string;
  readonly code: string;
  readonly codeLine: number;
  readonly names: readonly string[];
  /** The step's stable key. */
  readonly key: string;
  readonly values: readonly JsonValue[];
  /** From the moment a runner has the step; null: no deadline. */
  readonly timeoutMs: number | null;
  /** The deadline as the author spells it, for the message. */
  readonly timeoutText: string;
  readonly log: () => LogTail;
  /** Takes the files that `out` names out of the working folder, and gives the out with their values in place. */
  readonly collectFiles: (out: JsonValue, workDir: string) => Promise<JsonValue>;
}

export interface RunnerReply {
  /** Undefined: nothing was returned, or the step failed. */
  readonly out: JsonValue | undefined;
  readonly failure: StepFailure | null;
  readonly checks: readonly CheckRecord[];
  /** Running time of the step's code. */
  readonly ms: number;
}

/** A runner serves one version, one set of secrets and one memory limit: nothing leaks from one to another. */
export function runnerKey(versionId: string, secretNames: readonly string[], memoryMb: number): string {
  return `${versionId} ${memoryMb} ${[...secretNames].sort().join(',')}`;
}
