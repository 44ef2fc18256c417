// The events of an organization as server-sent events: runs as programs get them, whole, and as people see them in
// lists, without content.
import type { MethodId } from '@methods/base/ids';
import { RunStatus, type RunView } from '@methods/proto/run/v1/run_pb';
import { jsonString, jsonTime } from './json-text.ts';
import { runStateJson, runSummaryJson, runViewJson } from './run-view.ts';
import { type DeclaredStep, shownSteps } from './step-view.ts';

/** Event text, given its id. */
export type EventText = (id: string) => string;

/** A run that waits or has finished, as GET gives it; without `steps` where there are too many. */
export function restEvent(
  run: RunView,
  stepsLeftOut: boolean,
  declared: readonly DeclaredStep[],
  nowMs: number,
): EventText {
  const json = stepsLeftOut ? runStateJson(run, nowMs) : runViewJson(run, declared, nowMs);
  return (id) => event('run', id, json);
}

/** A run that changed, as lists give it, with the steps that changed and what is asked. */
export function changeEvents(run: RunView, stepsLeftOut: boolean, nowMs: number): EventText[] {
  const steps = [...shownSteps(run, [], nowMs)].map(({ json }) => json);
  const asked = questionJson(run);
  const more =
    `${stepsLeftOut ? '' : `,"changed_steps":[${steps.join(',')}]`}` +
    `${asked === null ? '' : `,"question":${asked}`}}`;
  const json = `${runSummaryJson(run, nowMs).slice(0, -1)}${more}`;
  const events: EventText[] = [(id) => event('run', id, json)];
  if (asked !== null) {
    const question = `{"run_id":"${run.runId}","method":"${run.method}","question":${asked}}`;
    events.push((id) => event('question', id, question));
  }
  return events;
}

/** A method was published. */
export function methodEvent(methodId: MethodId): EventText {
  return (id) => event('method', id, JSON.stringify({ method_id: methodId }));
}

/** Nothing that follows this id is missing. */
export function readyEvent(id: string): string {
  return event('ready', id, '{}');
}

/** Something before this may be missing. */
export function resyncEvent(id: string): string {
  return event('resync', id, '{}');
}

// Which question, and until when: the words are for those whose look at the run is in the audit log.
function questionJson({ status, question }: RunView): string | null {
  if (status !== RunStatus.WAITING || !question) return null;
  return (
    `{"id":${jsonString(question.id)},"step":${jsonString(question.step)},"asked_at":${jsonTime(question.askedAtMs)},` +
    `"deadline_at":${jsonTime(question.deadlineAtMs)}}`
  );
}

function event(name: string, id: string, json: string): string {
  return `event: ${name}\nid: ${id}\ndata: ${json}\n\n`;
}
