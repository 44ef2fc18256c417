// The body of a webhook. It is built once, when the event is stored; every try sends and signs these bytes.
import type { DeliveryId } from '@methods/base/ids';
import type { DeliveredEvent, EventName, Question, RunError } from './run-event.ts';

const STATUS: Readonly<Record<EventName, string>> = {
  needs_input: 'waiting',
  'question.reminded': 'waiting',
  'question.escalated': 'waiting',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
};

/** Members that do not apply are absent, unknown times are null. `more`: further members. */
export function webhookBody(
  event: DeliveredEvent,
  deliveryId: DeliveryId,
  more: readonly (readonly [string, string | undefined])[] = [],
): Buffer {
  const body = jsonObject([
    ['event', JSON.stringify(event.change.event)],
    ['delivery_id', JSON.stringify(deliveryId)],
    ['seq', String(event.seq)],
    ['run_id', JSON.stringify(event.runId)],
    ['status', JSON.stringify(STATUS[event.change.event])],
    ['method', JSON.stringify(event.method)],
    ['version_id', JSON.stringify(event.versionId)],
    ...changeMembers(event),
    ['content_left_out', event.contentLeftOut ? 'true' : undefined],
    ['created_at', timeJson(event.createdAtMs)],
    ...more,
  ]);
  return Buffer.from(body, 'utf8');
}

/** Of a run in device mode: no more than that it changed, and what it asks as its worker sealed it. */
export function deviceBody({ runId, change }: DeliveredEvent): Buffer {
  const body = jsonObject([
    ['run_id', JSON.stringify(runId)],
    ['status', JSON.stringify(STATUS[change.event])],
    ['question', 'question' in change ? sealedQuestionJson(change.question) : undefined],
  ]);
  return Buffer.from(body, 'utf8');
}

function sealedQuestionJson({ id, step, sealed, askedAtMs, deadlineAtMs }: Question): string {
  return jsonObject([
    ['id', JSON.stringify(id)],
    ['step', JSON.stringify(step)],
    ['sealed', sealed === undefined ? undefined : JSON.stringify({ $sealed: sealed })],
    ['asked_at', timeJson(askedAtMs)],
    ['deadline_at', timeJson(deadlineAtMs)],
  ]);
}

function changeMembers({
  change,
  contentLeftOut,
}: Pick<DeliveredEvent, 'change' | 'contentLeftOut'>): (readonly [string, string | undefined])[] {
  switch (change.event) {
    case 'needs_input':
    case 'question.reminded':
    case 'question.escalated':
      return [['question', questionJson(change.question, contentLeftOut)]];
    case 'succeeded':
      return [['result', change.resultJson === '' ? undefined : change.resultJson]];
    case 'failed':
      return [['error', errorJson(change.error)]];
    case 'cancelled':
      return [];
  }
}

function questionJson(question: Question, contentLeftOut: boolean): string {
  const shown = question.show.map((value) =>
    jsonObject([
      ['path', JSON.stringify(value.path)],
      ['value', carriedJson(value.valueJson)],
    ]),
  );
  return jsonObject([
    ['id', JSON.stringify(question.id)],
    ['step', JSON.stringify(question.step)],
    ['prompt', JSON.stringify(question.prompt)],
    ['details', textIfAny(question.details)],
    ['show', contentLeftOut ? undefined : `[${shown.join(',')}]`],
    ['form', contentLeftOut ? undefined : carriedForm(question.formJson)],
    ['asked_at', timeJson(question.askedAtMs)],
    ['deadline_at', timeJson(question.deadlineAtMs)],
  ]);
}

function carriedForm(formJson: string): string {
  return formJson === '' ? '{}' : formJson;
}

function errorJson(error: RunError): string {
  return jsonObject([
    ['code', JSON.stringify(error.code)],
    ['kind', textIfAny(error.kind)],
    ['message', JSON.stringify(error.message)],
    ['step', textIfAny(error.step)],
  ]);
}

// Builds JSON from texts that are already JSON, so that values pass through without being parsed.

/** Returns an object with the members whose text is given, in this order. */
function jsonObject(members: readonly (readonly [name: string, json: string | undefined])[]): string {
  const parts = members.flatMap(([name, json]) => (json === undefined ? [] : [`${JSON.stringify(name)}:${json}`]));
  return `{${parts.join(',')}}`;
}

/** A value carried as JSON text; the empty text means none. */
function carriedJson(json: string): string {
  return json === '' ? 'null' : json;
}

/** RFC 3339 in UTC with milliseconds; 0 is an unknown time, null. */
function timeJson(ms: number): string {
  return ms === 0 ? 'null' : JSON.stringify(new Date(ms).toISOString());
}

/** For a text that may be missing: the member is then left out. */
function textIfAny(text: string): string | undefined {
  return text === '' ? undefined : JSON.stringify(text);
}
