// The effects after a change is committed, as plain values. None of them happens before.
import type { StepSummary } from './run.ts';

export type Effect =
  | { readonly type: 'grant'; readonly token: string; readonly workerSession: string }
  | { readonly type: 'lease_ended'; readonly token: string }
  | { readonly type: 'notify_cancel'; readonly token: string; readonly workerSession: string }
  | { readonly type: 'emit'; readonly event: RunEventName; readonly follows: EarlierEvent | null };

export type RunEventName = 'needs_input' | 'succeeded' | 'failed' | 'cancelled';

/** The run's event before this one: the question last asked. */
export interface EarlierEvent {
  /** The run's revision that asked. */
  readonly seq: number;
  readonly atMs: number;
}

/** A step to be kept with its out; the run itself carries only the summary. */
export interface NewStep {
  readonly seq: number;
  readonly summary: StepSummary;
  readonly outJson: string | null;
  readonly outWithheld: boolean;
  readonly logTail: string | null;
}
