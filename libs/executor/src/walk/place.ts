// The place of the walk in a run: the method, the names in scope, and the path above.
import type { LocalVersionId, RunId, VersionId } from '@methods/base/ids';
import type { CompiledMethod, CompiledStep } from '@methods/method/compiled-method';
import type { Scope } from '@methods/method/evaluate';
import type { JsonObject, JsonValue } from '@methods/method/json';
import type { PreparedEnvironment } from '../prepared-environment.ts';
import type { StepRecorder } from '../records/step-record.ts';
import type { Callee } from '../run-options.ts';
import type { DeclaredSecrets } from '../secrets/declared-secrets.ts';

/** One method on its way: the run's own, or a called one. */
export interface Frame {
  readonly method: CompiledMethod;
  readonly versionId: VersionId | LocalVersionId;
  /** `''`, or the path of the call and `/`. */
  readonly prefix: string;
  /** Calls around it. */
  readonly depth: number;
  readonly environment: PreparedEnvironment | undefined;
  /** Finds what the method calls. */
  readonly callee: Callee | undefined;
  readonly secrets: DeclaredSecrets;
  readonly recorder: StepRecorder;
  /** Monotonic time at which the method's `run_timeout` is over; null: no bound. */
  readonly endsMs: number | null;
  /** The steps are those of `on_failure` or `finally`, or of a method that one of them calls. */
  readonly cleans: boolean;
}

export interface Place {
  readonly frame: Frame;
  /** The prefix of a step's name in its path, such as `loop[2]/`. */
  readonly prefix: string;
  readonly scope: Scope;
  /** The scope's `steps`: it grows as steps end. */
  readonly outs: Record<string, JsonValue>;
  /** Steps that may still be walked (`max_steps`); counted in order, so that a resume counts the same. */
  readonly budget: { left: number };
}

/** A step at its place: one round of it, or its only one. */
export interface Turn {
  readonly place: Place;
  readonly path: string;
  /** Of the step's own loop; null outside of one. */
  readonly round: number | null;
}

export function firstPlace(frame: Frame, runId: RunId, startedAtMs: number, inputs: JsonObject): Place {
  const outs = {};
  const run = { id: runId, started_at: new Date(startedAtMs).toISOString(), version_id: frame.versionId };
  const scope = { inputs, run, steps: outs };
  return { frame, prefix: frame.prefix, scope, outs, budget: newBudget(frame) };
}

export function newBudget(frame: Frame): { left: number } {
  return { left: frame.method.limits.stepsMax };
}

/** Inside a step that holds steps. Under a loop the inner names are the round's own; elsewhere they stay visible after it. */
export function placeInside(step: CompiledStep, { place, path }: Turn): Place {
  const prefix = `${path}/`;
  if (step.loop === null) return { ...place, prefix };
  const outs = { ...place.outs };
  return { ...place, prefix, outs, scope: { ...place.scope, steps: outs } };
}
