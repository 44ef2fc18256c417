// Decodes a long message in parts, between which the event loop is free for other work: a view of many steps takes 15
// ms and more at once. Long messages are walked field by field here; the compiled decoder reads the short ones within
// them.
import type { DescField, DescMessage } from '@bufbuild/protobuf';
import type { MessageDecoder } from './decoder-code.ts';
import { NESTING_MAX, tooDeep, type WireReader } from './wire-reader.ts';

type Message = Record<string, unknown>;
type DecoderOf = (desc: DescMessage) => MessageDecoder;

const messageFields = new WeakMap<DescMessage, Map<number, DescField>>();

/** Yields after about `partBytes` each. */
export class DecodingInParts {
  private partEnd: number;

  constructor(
    private readonly reader: WireReader,
    private readonly decoderOf: DecoderOf,
    private readonly partBytes: number,
  ) {
    this.partEnd = partBytes;
  }

  /** Reads a message up to `end` into the partly read one. */
  *read(desc: DescMessage, end: number, known: Message | undefined, depth: number): Generator<void, Message> {
    if (depth > NESTING_MAX) throw tooDeep();
    const { reader } = this;
    const { merge, read } = this.decoderOf(desc);
    // Reads no field: a message without any.
    const message = known ?? (read(reader, reader.pos, depth) as Message);
    const nested = messageFieldsOf(desc);
    while (reader.pos < end) {
      if (reader.pos >= this.partEnd) {
        yield;
        this.partEnd = reader.pos + this.partBytes;
      }
      const field = nested.get(reader.nextNumber());
      // A decoder ends with the field that reaches its end.
      if (field === undefined) merge(reader, reader.pos + 1, message, depth);
      else yield* this.readNested(field, message, depth + 1);
    }
    return message;
  }

  private *readNested(field: DescField, holder: Message, depth: number): Generator<void, void> {
    const { reader } = this;
    const desc = field.message as DescMessage;
    reader.tag();
    const length = reader.uint();
    const end = reader.pos + length;
    const known = knownOf(field, holder);
    let message: Message;
    if (length > this.partBytes) message = yield* this.read(desc, end, known, depth);
    else {
      const { merge, read } = this.decoderOf(desc);
      message = (known === undefined ? read(reader, end, depth) : merge(reader, end, known, depth)) as Message;
    }
    if (field.fieldKind === 'list') (holder[field.localName] as Message[]).push(message);
    else if (field.oneof === undefined) holder[field.localName] = message;
    else holder[field.oneof.localName] = { case: field.localName, value: message };
  }
}

/** The earlier part of a message that comes in several parts. */
function knownOf(field: DescField, holder: Message): Message | undefined {
  if (field.fieldKind === 'list') return undefined;
  if (field.oneof === undefined) return holder[field.localName] as Message | undefined;
  const oneof = holder[field.oneof.localName] as { readonly case?: string; readonly value?: Message };
  return oneof.case === field.localName ? oneof.value : undefined;
}

/** Fields that hold messages, without maps. */
function messageFieldsOf(desc: DescMessage): Map<number, DescField> {
  const known = messageFields.get(desc);
  if (known !== undefined) return known;
  const found = new Map<number, DescField>();
  for (const field of desc.fields) {
    if (field.message !== undefined && field.fieldKind !== 'map') found.set(field.number, field);
  }
  messageFields.set(desc, found);
  return found;
}
