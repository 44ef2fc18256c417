// Encodes a committed change as the event that others receive, within the size of a message.
import { create, fromBinary, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { RunEventSchema } from '@methods/proto/event/v1/event_pb';
import type { Effect } from '../run/decision.ts';
import { starterOf } from '../run/party.ts';
import type { Run } from '../run/run.ts';
import type { OutboxEvent } from '../store/run-store.ts';
import { partyMessage, questionMessage } from '../wire/question-message.ts';
import { answererNumber, runStatusNumber } from '../wire/run-message.ts';

type EmittedEvent = Omit<Effect & { type: 'emit' }, 'type'>;

/** `run` after the change; its revision orders a run's events. */
export function runEvent(
  run: Run,
  { event, follows, atMs = run.stateSinceMs, closed, assigned }: EmittedEvent,
): OutboxEvent {
  const { facts, revision } = run;
  const starter = starterOf(facts);
  // One commit may also end the run, so the event of a closed question has an id of its own.
  const outboxId = closed === undefined ? `${facts.runId}.${revision}` : `${facts.runId}.${revision}.closed`;
  const whole = toBinary(
    RunEventSchema,
    create(RunEventSchema, {
      outboxId,
      orgId: facts.orgId,
      runId: facts.runId,
      seq: revision,
      event,
      status: runStatusNumber(run.status),
      method: facts.method,
      versionId: facts.versionId,
      webhookUrl: facts.webhookUrl ?? '',
      keyId: facts.keyId,
      answerBy: answererNumber(facts.answerBy),
      ...(run.status === 'waiting' ? { question: questionMessage(run.question) } : {}),
      ...(run.status === 'succeeded' ? { resultJson: run.resultJson } : {}),
      ...(run.status === 'failed' ? { error: { ...run.error } } : {}),
      createdAtMs: atMs,
      contentId: facts.contentId ?? '',
      ...(closed && { closed }),
      ...(assigned && { assigned: { to: partyMessage(assigned.to), by: partyMessage(assigned.by) } }),
      ...(starter && { starter: partyMessage(starter) }),
      ...(follows === null ? {} : { followsSeq: follows.seq, followsAtMs: follows.atMs }),
    }),
  );
  const body = whole.length > EVENT_BYTES_MAX ? (withoutContent(whole) ?? whole) : whole;
  return {
    outboxId,
    orgId: facts.orgId,
    runId: facts.runId,
    shard: facts.shard,
    seq: revision,
    body,
    createdAtMs: atMs,
  };
}

// Bounds the size of an event. The bus carries no larger message, and a run's later events wait for its earlier ones;
// so an event that is too large is sent without its content, which its reader finds in the run.

/** A result has at most 1 MiB; the rest is for the other fields. The notifier pulls 32 events at a time. */
const EVENT_BYTES_MAX = (1 << 20) + (64 << 10);
/** For texts in an event without its content. */
const TEXT_CHARACTERS_MAX = 1_000;

type Event = MessageShape<typeof RunEventSchema>;

/** Returns null if the event has no content, or cannot be read. */
export function withoutContent(body: Uint8Array): Uint8Array | null {
  let event: Event;
  try {
    event = fromBinary(RunEventSchema, body);
  } catch {
    return null;
  }
  if (event.contentLeftOut) return null;
  return toBinary(RunEventSchema, emptied(event));
}

function emptied(event: Event): Event {
  const { question, error } = event;
  event.contentLeftOut = true;
  event.resultJson = '';
  if (question !== undefined) {
    question.prompt = cut(question.prompt);
    question.details = '';
    question.show = [];
    question.formJson = '';
    question.sealed = new Uint8Array();
    question.votes = [];
  }
  if (error !== undefined) {
    error.code = cut(error.code);
    error.kind = cut(error.kind);
    error.message = cut(error.message);
    error.step = cut(error.step);
  }
  return event;
}

function cut(text: string): string {
  if (text.length <= TEXT_CHARACTERS_MAX) return text;
  // Half of a surrogate pair is not a character.
  const end = /[\ud800-\udbff]/.test(text.charAt(TEXT_CHARACTERS_MAX - 2))
    ? TEXT_CHARACTERS_MAX - 2
    : TEXT_CHARACTERS_MAX - 1;
  return `${text.slice(0, end)}…`;
}
