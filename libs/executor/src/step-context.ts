// The context that every kind of step runs with.

import { hash } from 'node:crypto';
import type { Clock } from '@methods/base/clock';
import type { LocalVersionId, RunId, VersionId } from '@methods/base/ids';
import type { CompiledMethod } from '@methods/method/compiled-method';
import type { Scope } from '@methods/method/evaluate';
import type { JsonObject, JsonValue } from '@methods/method/json';
import type { LogSource } from './log-tail.ts';
import type { PreparedEnvironment } from './prepared-environment.ts';
import type { RunFolder } from './run-folder.ts';
import type { CheckRecord, StepLog } from './run-outcome.ts';
import type { RunStop } from './run-stop.ts';
import type { RunnerPool } from './runner-pool.ts';
import type { Mask } from './secrets/mask.ts';
import type { StepEvent } from './step-event.ts';
import type { StepFailure } from './step-failure.ts';

export interface StepContext {
  readonly runId: RunId;
  /** The version whose step this is: in a called method, that method's. */
  readonly versionId: VersionId | LocalVersionId;
  /** The step's place, such as `upsert[3]` or `loop[2]/inner`, which identifies its key, its records and its files. */
  readonly path: string;
  /** 1 for the first try. */
  readonly tryNumber: number;
  /** The method's `lib`. */
  readonly lib: CompiledMethod['lib'];
  /** The version's prepared dependencies on this machine. */
  readonly environment: PreparedEnvironment;
  /** Receive the step's inputs, output and reports while it runs, all masked; undefined: there is no observer. */
  readonly onInput: ((values: JsonObject) => void) | undefined;
  readonly onLog: ((text: string, from: LogSource) => void) | undefined;
  readonly onEvent: ((event: StepEvent) => void) | undefined;
  readonly scope: Scope;
  /** Values of the method's declared secrets. */
  readonly secrets: ReadonlyMap<string, string>;
  readonly mask: Mask;
  readonly runners: RunnerPool;
  readonly fetch: typeof fetch;
  readonly folder: RunFolder;
  readonly stop: RunStop;
  readonly clock: Clock;
  /** The rest of the run's own time; null: no bound. */
  readonly runTimeLeftMs: number | null;
}

/** The outcome of an action, before its out is checked. */
export interface ActionEnd {
  /** As returned; undefined: nothing. */
  readonly returned: JsonValue | undefined;
  readonly failure: StepFailure | null;
  readonly checks: readonly CheckRecord[];
  readonly log: StepLog | null;
  /** The `response` that `ensure` of an http step reads. */
  readonly response?: JsonObject;
}

// The stable key of a step: the same over tries, attempts and workers, so that the receiver of a step's effect can
// recognize a repetition.

/** First 32 hex digits of SHA-256(run id + "/" + path). */
export function stepKey(runId: RunId, path: string): string {
  return hash('sha256', `${runId}/${path}`, 'hex').slice(0, 32);
}
