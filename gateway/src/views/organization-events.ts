// The events of an organization as server-sent events: runs as programs get them, whole, and as people see them in
// lists, without content.
import type { TriedDelivery } from '@methods/proto/event/v1/event_pb';
import { type Question, RunStatus, type RunView } from '@methods/proto/run/v1/run_pb';
import { QuestionChange, type QuestionNews } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { jsonString, jsonTime } from './content-view.ts';
import { runStateJson, runSummaryJson, runViewJson } from './run-view.ts';
import { type DeclaredStep, shownSteps } from './step-view.ts';

/** Event text, given its id. */
export type EventText = (id: string) => string;

/** A run that waits or has finished, as GET returns it; without `steps` if there are too many. */
export function restEvent(
  run: RunView,
  stepsLeftOut: boolean,
  declared: readonly DeclaredStep[],
  nowMs: number,
): EventText {
  const json = stepsLeftOut ? runStateJson(run, nowMs) : runViewJson(run, declared, nowMs);
  return (id) => event('run', id, json);
}

/** A run that changed, as lists show it, with the changed steps and the open question. */
export function changeEvents(run: RunView, stepsLeftOut: boolean, nowMs: number): EventText[] {
  const steps = [...shownSteps(run, [], nowMs)].map(({ json }) => json);
  const asked = questionJson(run);
  const more =
    `${stepsLeftOut ? '' : `,"changed_steps":[${steps.join(',')}]`}` +
    `${asked === null ? '' : `,"question":${asked}`}}`;
  const json = `${runSummaryJson(run, nowMs).slice(0, -1)}${more}`;
  return [(id) => event('run', id, json)];
}

const ENDS: Partial<Record<QuestionChange, string>> = {
  [QuestionChange.ANSWERED]: 'answered',
  [QuestionChange.EXPIRED]: 'expired',
  [QuestionChange.CANCELLED]: 'cancelled',
};
const EVENTS: Partial<Record<QuestionChange, string>> = {
  [QuestionChange.ASKED]: 'question',
  [QuestionChange.CHANGED]: 'question.changed',
  [QuestionChange.REMINDED]: 'question.reminded',
  [QuestionChange.ESCALATED]: 'question.escalated',
};

/** What happened to questions. Changes that only later releases know are omitted. */
export function questionEvents(changes: readonly QuestionNews[]): EventText[] {
  return changes.flatMap((change): EventText[] => {
    const reason = ENDS[change.change];
    const name = reason === undefined ? EVENTS[change.change] : 'question.closed';
    if (name === undefined) return [];
    const { runId, method, assignee, votes, needs } = change;
    const people =
      `${assignee === '' ? '' : `,"assignee":${jsonString(assignee)}`}` +
      `${needs === 0 ? '' : `,"needs":${needs},"votes_given":${votes}`}`;
    const asked = askedJson({ ...change, id: change.questionId });
    const json =
      `{"run_id":"${runId}","method":"${method}","question":${asked.slice(0, -1)}${people}}` +
      `${reason === undefined ? '' : `,"reason":"${reason}"`}}`;
    return [(id) => event(name, id, json)];
  });
}

/** A change of the registry that pages show; null: another one. */
export function registryEvent(kind: string, changed: string): EventText | null {
  if (kind === 'key') return (id) => event('key', id, JSON.stringify({ key_id: changed }));
  if (kind !== 'method' && kind !== 'created' && kind !== 'build') return null;
  const name = kind === 'build' ? 'build' : 'method';
  return (id) => event(name, id, JSON.stringify({ method_id: changed }));
}

/** Workers have connected or left. */
export const workersEvent: EventText = (id) => event('workers', id, '{}');

/** A delivery was tried. */
export function deliveryEvent(tried: TriedDelivery): EventText {
  const { deliveryId, runId, event: brought, kind, endpointId, status, httpStatus } = tried;
  const json = JSON.stringify({
    delivery_id: deliveryId,
    run_id: runId,
    event: brought,
    kind,
    endpoint_id: endpointId === '' ? null : endpointId,
    status,
    http_status: httpStatus === 0 ? null : httpStatus,
  });
  return (id) => event('delivery', id, json);
}

/** No later event is missing after this id. */
export function readyEvent(id: string): string {
  return event('ready', id, '{}');
}

/** Events before this may be missing. */
export function resyncEvent(id: string): string {
  return event('resync', id, '{}');
}

// Names the question and its deadline. Its text is only for people whose view of the run is in the audit log.
function questionJson({ status, question }: RunView): string | null {
  return status === RunStatus.WAITING && question ? askedJson(question) : null;
}

function askedJson(asked: Pick<Question, 'id' | 'step' | 'askedAtMs' | 'deadlineAtMs'>): string {
  const { id, step, askedAtMs, deadlineAtMs } = asked;
  return (
    `{"id":${jsonString(id)},"step":${jsonString(step)},"asked_at":${jsonTime(askedAtMs)},` +
    `"deadline_at":${jsonTime(deadlineAtMs)}}`
  );
}

function event(name: string, id: string, json: string): string {
  return `event: ${name}\nid: ${id}\ndata: ${json}\n\n`;
}
