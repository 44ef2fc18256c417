// Converts a run, as the scheduler sends it or a person's own computer recorded it, to the documented JSON.

import { Run } from '@methods/api/run';
import { assert } from '@methods/base/assert';
import { productionMethodId } from '@methods/base/ids';
import type { RunRecord } from '@methods/proto/registry/v1/run_record_service_pb';
import { Answerer, RunStatus, type RunTiming, type RunView, RunViewSchema } from '@methods/proto/run/v1/run_pb';
import { atOnce } from '../turns/steps.ts';
import { jsonSpan, jsonString, jsonTime, textView } from './content-view.ts';
import { partyView, timeView } from './party-view.ts';
import { openQuestionJson, partyJson, receiptJson } from './question-view.ts';
import { type DeclaredStep, shownSteps } from './step-view.ts';

const STATUS_NAMES: Record<RunStatus, string> = {
  [RunStatus.UNSPECIFIED]: 'queued',
  [RunStatus.QUEUED]: 'queued',
  [RunStatus.RUNNING]: 'running',
  [RunStatus.WAITING]: 'waiting',
  [RunStatus.SUCCEEDED]: 'succeeded',
  [RunStatus.FAILED]: 'failed',
  [RunStatus.CANCELLED]: 'cancelled',
};

// The first name is for unknown numbers and is not a status.
const STATUS_NUMBERS = new Map(
  Object.entries(STATUS_NAMES)
    .slice(1)
    .map(([number, name]) => [name, Number(number) as RunStatus]),
);

export function runStatusName(status: RunStatus): string {
  return STATUS_NAMES[status] ?? 'queued';
}

/** 0 for an unknown status. */
export function runStatusNumber(name: string): RunStatus {
  return STATUS_NUMBERS.get(name) ?? RunStatus.UNSPECIFIED;
}

export function isFinished(run: RunView): boolean {
  return run.status >= RunStatus.SUCCEEDED;
}

/** The short reply to a start. Ids are letters, digits and underscores, so they need no escaping. */
export function startedRunJson(run: RunView, status: string): string {
  return `{"run_id":"${run.runId}","version_id":"${run.versionId}","status":"${status}"}`;
}

/** A run with more steps is written in turns: this many take a few milliseconds. */
const STEPS_AT_ONCE = 500;
const STEPS_A_PART = 50;

/** Reports whether its JSON takes more than a moment of the event loop. */
export function isLongRun(run: RunView): boolean {
  return run.steps.length > STEPS_AT_ONCE;
}

/**
 * The whole run. Fields that do not apply are absent, unknown times null; totals of time include the span that is still
 * open at `nowMs` (wall clock). `declared`: the version's top-level steps, all listed from the start.
 */
export function runViewJson(run: RunView, declared: readonly DeclaredStep[], nowMs: number): string {
  return atOnce(runViewInParts(run, declared, nowMs));
}

/** Writes the same; the work may pause at each `yield`. */
export function* runViewInParts(
  run: RunView,
  declared: readonly DeclaredStep[],
  nowMs: number,
): Generator<undefined, string> {
  const parts: string[] = [];
  let part = '';
  let steps = 0;
  for (const { json } of shownSteps(run, declared, nowMs)) {
    part += steps === 0 ? json : `,${json}`;
    if (++steps % STEPS_A_PART !== 0) continue;
    parts.push(part);
    part = '';
    yield;
  }
  parts.push(part);
  return (
    `${headJson(run, nowMs)},"steps":[${parts.join('')}]` +
    `${questionJson(run)}${answersJson(run)}${resultJson(run)}${errorJson(run, true)}}`
  );
}

/** The whole run except for its steps. */
export function runStateJson(run: RunView, nowMs: number): string {
  return `${headJson(run, nowMs)}${questionJson(run)}${answersJson(run)}${resultJson(run)}${errorJson(run, true)}}`;
}

/** A run in a list: without steps, question, result and, unless it is listed with its first line, the error's message. */
export function runSummaryJson(run: RunView, nowMs: number, { errorLine = false } = {}): string {
  return `${headJson(run, nowMs)}${errorJson(run, errorLine && run.error !== undefined && run.error.message !== '')}}`;
}

/** The fields of the schema that are written by code of their own. */
const WRITTEN: readonly (keyof Run)[] = [
  ...(['run_id', 'method', 'version_id', 'status', 'run_data', 'content_id', 'answer_by', 'started_by'] as const),
  ...(['timing', 'queued_reason', 'not_before', 'steps', 'question', 'answers'] as const),
  ...(['result', 'result_at', 'error', 'ending'] as const),
];

/** All others have the message's field of the same name as their value. */
const SAME_FIELDS = (Object.keys(Run.properties) as (keyof Run)[])
  .filter((name) => !WRITTEN.includes(name))
  .map((name) => {
    const field = RunViewSchema.fields.find((each) => each.name === name);
    assert(field, `RunView has no field ${name}`);
    const isOptional = !(Run.required as string[]).includes(name);
    return { before: `,"${name}":`, key: field.localName as keyof RunView, isOptional };
  });

function headJson(run: RunView, nowMs: number): string {
  let json =
    `{"run_id":"${run.runId}","method":"${run.method}","version_id":"${run.versionId}","status":"${runStatusName(run.status)}",` +
    `${dataJson(run)},"answer_by":"${run.answerBy === Answerer.APPLICATION ? 'application' : 'team'}",` +
    `${starterJson(run)}"timing":${timingJson(run, nowMs)}${queuedReasonJson(run)}`;
  for (const { before, key, isOptional } of SAME_FIELDS) {
    const value = run[key];
    // The message has a zero value for what is absent.
    if (!isOptional || value) json += before + JSON.stringify(value);
  }
  return json;
}

function starterJson({ starter }: RunView): string {
  return starter === undefined ? '' : `"started_by":${partyJson(starter)},`;
}

/** Its client makes a content id of hex digits, so it needs no escaping. */
function dataJson({ contentId }: RunView): string {
  return contentId === '' ? '"run_data":"account"' : `"run_data":"device","content_id":"${contentId}"`;
}

function timingJson(run: RunView, nowMs: number): string {
  const timing: Partial<RunTiming> = run.timing ?? {};
  const openMs = timing.stateSinceMs ? Math.max(0, nowMs - timing.stateSinceMs) : 0;
  // A sleeping run is shown as queued and counts as waiting.
  const state = run.wakeAtMs > 0 ? RunStatus.WAITING : run.status;
  const spent = (sumMs: number | undefined, of: RunStatus) => jsonSpan((sumMs ?? 0) + (of === state ? openMs : 0));
  return (
    `{"created_at":${jsonTime(timing.createdAtMs ?? 0)},"started_at":${jsonTime(timing.startedAtMs ?? 0)},` +
    `"waiting_since":${jsonTime(timing.waitingSinceMs ?? 0)},"finished_at":${jsonTime(timing.finishedAtMs ?? 0)},` +
    `"queued_ms":${spent(timing.queuedMs, RunStatus.QUEUED)},"running_ms":${spent(timing.runningMs, RunStatus.RUNNING)},` +
    `"waiting_ms":${spent(timing.waitingMs, RunStatus.WAITING)}}`
  );
}

function queuedReasonJson(run: RunView): string {
  if (run.status !== RunStatus.QUEUED || run.queuedReason === '') return '';
  const until = run.wakeAtMs > 0 ? `,"not_before":${jsonTime(run.wakeAtMs)}` : '';
  return `,"queued_reason":${jsonString(run.queuedReason)}${until}`;
}

function questionJson(run: RunView): string {
  return run.status === RunStatus.WAITING && run.question ? `,"question":${openQuestionJson(run.question)}` : '';
}

function answersJson({ answers }: RunView): string {
  return answers.length === 0 ? '' : `,"answers":[${answers.map(receiptJson).join(',')}]`;
}

function resultJson(run: RunView): string {
  if (run.status === RunStatus.SUCCEEDED && run.contentId !== '') return ',"result_at":"worker"';
  return run.status === RunStatus.SUCCEEDED && run.resultJson !== '' ? `,"result":${run.resultJson}` : '';
}

function errorJson(run: RunView, withMessage: boolean): string {
  // The error of a run that has failed and still cleans up.
  const name = run.status === RunStatus.FAILED ? 'error' : 'ending';
  const error = name === 'error' ? run.error : run.ending;
  if (!error) return '';
  return `,"${name}":${JSON.stringify({
    code: error.code,
    ...(error.kind === '' ? {} : { kind: error.kind }),
    ...(withMessage ? textView(error.message, run) : {}),
    ...(error.step === '' ? {} : { step: error.step }),
  })}`;
}

// The record of a run on a person's own computer, as JSON that differs from a production run's.

/** In a list: without the inspection. */
export function localRunView(record: RunRecord) {
  return {
    run_id: record.runId,
    kind: 'local',
    method: productionMethodId(record.methodId),
    version_id: record.versionId,
    status: record.status || null,
    sequence: record.sequence,
    created_at: timeView(record.createdAtMs),
    updated_at: timeView(record.updatedAtMs),
    created_by: partyView(record.createdBy),
  };
}

/** With its inspection, which was stored as JSON and is not parsed. */
export function localRunJson(record: RunRecord): string {
  const head = JSON.stringify(localRunView(record));
  return `${head.slice(0, -1)},"inspection":${record.inspectionJson || 'null'}}`;
}
