// Writes the changes of a run as server-sent events: `run` is the whole run, `step` one step that changed, `status` the
// run without its steps. Only differences from what was sent before are sent, so that a state that was skipped, or
// pushed twice, loses and repeats nothing.
import type { RunView } from '@methods/proto/run/v1/run_pb';
import { runStateJson, runViewInParts } from './run-view.ts';
import { type DeclaredStep, shownSteps } from './step-view.ts';

/** The state of a run that a reader has. */
export interface ToldRun {
  /** By path, without the fields that only time changes. */
  readonly steps: ReadonlyMap<string, string>;
  readonly state: string;
  /** The approximate size of all of it. */
  readonly bytes: number;
}

export interface RunEvents {
  /** As sent; empty if nothing is new. */
  readonly text: string;
  readonly told: ToldRun;
}

// Totals of open spans grow with time, which is not a change: at this time they are all zero.
const NO_TIME = 0;
const STEPS_A_PART = 50;

/**
 * `before` null: the reader has nothing. The last event of a state carries its revision as its id. The work may pause
 * at each `yield`.
 */
export function* runEvents(
  before: ToldRun | null,
  run: RunView,
  declared: readonly DeclaredStep[],
  nowMs: number,
): Generator<undefined, RunEvents> {
  const told = yield* toldRun(run, declared);
  // A removed step cannot be sent as a changed one.
  if (before === null || [...before.steps.keys()].some((path) => !told.steps.has(path))) {
    return { text: event('run', run.revision, yield* runViewInParts(run, declared, nowMs)), told };
  }
  const parts: [name: string, json: string][] = [];
  let steps = 0;
  for (const { path, json } of shownSteps(run, declared, nowMs)) {
    if (told.steps.get(path) !== before.steps.get(path)) parts.push(['step', json]);
    if (++steps % STEPS_A_PART === 0) yield;
  }
  if (told.state !== before.state) parts.push(['status', runStateJson(run, nowMs)]);
  // A reader that reconnects in the middle of a state gets all of it again.
  const text = parts.map(([name, json], i) => event(name, i === parts.length - 1 ? run.revision : null, json));
  return { text: text.join(''), told };
}

/** Returns the state of a reader that has received all of this. The work may pause at each `yield`. */
export function* toldRun(run: RunView, declared: readonly DeclaredStep[]): Generator<undefined, ToldRun> {
  const steps = new Map<string, string>();
  const state = runStateJson(run, NO_TIME);
  let bytes = state.length;
  for (const { path, json } of shownSteps(run, declared, NO_TIME)) {
    steps.set(path, json);
    bytes += path.length + json.length;
    if (steps.size % STEPS_A_PART === 0) yield;
  }
  return { steps, state, bytes };
}

/** Reports why a stream ends before its run. */
export function droppedEvent(reason: 'slow' | 'unauthorized'): string {
  return event('dropped', null, JSON.stringify({ reason }));
}

// The JSON written here has no line ends.
function event(name: string, id: number | null, json: string): string {
  return `event: ${name}\n${id === null ? '' : `id: ${id}\n`}data: ${json}\n\n`;
}
