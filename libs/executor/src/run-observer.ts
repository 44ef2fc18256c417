// Observes the walk of a run, for live views. It changes nothing; everything it gets is masked.
import type { StepKind } from '@methods/method/compiled-method';
import type { JsonObject } from '@methods/method/json';
import type { LogSource } from './log-tail.ts';
import type { CheckRecord, StepEnd } from './run-outcome.ts';
import type { StepEvent } from './step-event.ts';
import type { StepError } from './step-failure.ts';

/** Called in the walk's own turn: methods must be quick and must not throw. */
export interface RunObserver {
  /** Before each try. */
  stepStarted?(path: string, kind: StepKind, tryNumber: number): void;
  /** The try failed; the next one, `tryNumber`, starts after `delayMs`. */
  stepRetrying?(path: string, tryNumber: number, delayMs: number, error: StepError): void;
  /** Finished, failed or skipped. */
  stepEnded?(record: StepEnd): void;
  /** Finished in an earlier attempt. */
  stepKept?(path: string): void;
  /** The inputs of a code step or a called method, by name; before it runs. */
  stepGiven?(path: string, values: JsonObject): void;
  /** The step's output, while it runs; chunks, not lines. */
  logged?(path: string, text: string, from: LogSource): void;
  /** The reports of the step's code, while it runs; its checks come again with `checked` once the try has ended. */
  told?(path: string, event: StepEvent): void;
  checked?(path: string, check: CheckRecord): void;
}
