// The changes of a run as server-sent events: `run` is the whole run, `step` one step that changed, `status` the run
// without its steps. Only differences to what was sent before are sent, so that a state that was skipped, or pushed
// twice, loses and repeats nothing.
import type { RunView } from '@methods/proto/run/v1/run_pb';
import { runStateJson, runViewInParts } from './run-view.ts';
import { type DeclaredStep, shownSteps } from './step-view.ts';

/** A reader's state of a run. */
export interface ToldRun {
  /** By path, without what only time changes. */
  readonly steps: ReadonlyMap<string, string>;
  readonly state: string;
  /** Of all of it, about. */
  readonly bytes: number;
}

export interface RunEvents {
  /** As they go out; empty where nothing is new. */
  readonly text: string;
  readonly told: ToldRun;
}

// Sums of open spans grow by themselves, which is not a change: at this time they are all zero.
const NO_TIME = 0;
const STEPS_A_PART = 50;

/**
 * `before` null: the reader knows nothing. The last event of a state carries its revision as its id. It may be left at
 * each `yield`.
 */
export function* runEvents(
  before: ToldRun | null,
  run: RunView,
  declared: readonly DeclaredStep[],
  nowMs: number,
): Generator<undefined, RunEvents> {
  const told = yield* toldRun(run, declared);
  // A step that is gone cannot be sent as a changed one.
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
  // Resumed in the middle of a state, a reader gets all of it again.
  const text = parts.map(([name, json], i) => event(name, i === parts.length - 1 ? run.revision : null, json));
  return { text: text.join(''), told };
}

/** The state of a reader that has received all of this. It may be left at each `yield`. */
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

/** Why a stream ends before its run does. */
export function droppedEvent(reason: 'slow' | 'unauthorized'): string {
  return event('dropped', null, JSON.stringify({ reason }));
}

// JSON as it is written here has no line ends of its own.
function event(name: string, id: number | null, json: string): string {
  return `event: ${name}\n${id === null ? '' : `id: ${id}\n`}data: ${json}\n\n`;
}
