// What every kind of step is given to run.
import type { Clock } from '@methods/base/clock';
import type { Scope } from '@methods/method/evaluate';
import type { JsonValue } from '@methods/method/json';
import type { Mask } from './mask.ts';
import type { RunFolder } from './run-folder.ts';
import type { CheckRecord, StepLog } from './run-outcome.ts';
import type { RunStop } from './run-stop.ts';
import type { RunnerPool } from './runner-pool.ts';
import type { StepFailure } from './step-failure.ts';

export interface StepContext {
  readonly runId: string;
  readonly versionId: string;
  readonly scope: Scope;
  /** Values of the method's declared secrets. */
  readonly secrets: ReadonlyMap<string, string>;
  readonly mask: Mask;
  readonly runners: RunnerPool;
  readonly fetch: typeof fetch;
  readonly folder: RunFolder;
  readonly stop: RunStop;
  readonly clock: Clock;
  /** What is left of the run's own time; null: no bound. */
  readonly runTimeLeftMs: number | null;
}

/** What an action came to, before its out is checked. */
export interface ActionEnd {
  /** As returned; undefined: nothing. */
  readonly returned: JsonValue | undefined;
  readonly failure: StepFailure | null;
  readonly checks: readonly CheckRecord[];
  readonly log: StepLog | null;
}
