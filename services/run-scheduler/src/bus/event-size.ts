// How large an event may be. The bus carries no message beyond its limit, and a run's later events wait for its earlier
// ones; so an event beyond it leaves its content out, and its reader finds that in the run.
import { fromBinary, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { RunEventSchema } from '@methods/proto/event/v1/event_pb';

/** A result has at most 1 MiB; the rest is for the other fields. The notifier pulls 32 of them at a time. */
export const EVENT_BYTES_MAX = (1 << 20) + (64 << 10);
/** Of texts in an event without its content. */
const TEXT_CHARACTERS_MAX = 1_000;

type Event = MessageShape<typeof RunEventSchema>;

/** Null: it holds no content, or is no event. */
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
  // Half of a pair is not a character.
  const end = /[\ud800-\udbff]/.test(text.charAt(TEXT_CHARACTERS_MAX - 2))
    ? TEXT_CHARACTERS_MAX - 2
    : TEXT_CHARACTERS_MAX - 1;
  return `${text.slice(0, end)}…`;
}
