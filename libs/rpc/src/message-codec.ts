// Protobuf-es messages to the bytes grpc-js carries and back, and the small things every call needs.
import {
  type DescField,
  type DescMessage,
  type DescMethod,
  type MessageInitShape,
  type MessageShape,
  ScalarType,
} from '@bufbuild/protobuf';
import { Metadata } from '@grpc/grpc-js';
import { DecodingInParts } from './decode-in-parts.ts';
import { compileDecoder, type MessageDecoder } from './decoder-code.ts';
import { compileEncoder, type MessageEncoder } from './encoder-code.ts';
import { TooManyElements, WireReader } from './wire-reader.ts';
import { WireWriter } from './wire-writer.ts';

/** A run of 10,000 steps with their checks has some 300,000. */
const ELEMENTS_MAX = 1_000_000;
/** About half a millisecond of a view with many steps, and two where each two bytes are an element. */
export const PART_BYTES = 64 * 1024;

const writer = new WireWriter();
const encoders = new WeakMap<DescMessage, MessageEncoder>();
const decoders = new WeakMap<DescMessage, MessageDecoder>();

export function methodPath(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

/** Takes a message or a plain object of its shape. */
export function encoder<Desc extends DescMessage>(desc: Desc): (message: MessageInitShape<Desc>) => Buffer {
  let write: MessageEncoder | undefined;
  return (message) => {
    write ??= compiledOnce(encoders, desc, compileEncoder);
    try {
      write(writer, message);
      return writer.finish();
    } catch (error) {
      writer.reset();
      throw error;
    }
  };
}

/**
 * The decoder throws on messages that are malformed, nested too deeply, or have more fields and entries than
 * `elementsMax`.
 */
export function decoder<Desc extends DescMessage>(
  desc: Desc,
  elementsMax?: number,
): (bytes: Uint8Array) => MessageShape<Desc> {
  let compiled: MessageDecoder | undefined;
  return (bytes) => {
    const reader = readerOf(desc, bytes, elementsMax);
    compiled ??= decoderOf(desc);
    return compiled.read(reader, bytes.length, 1) as MessageShape<Desc>;
  };
}

/** As `decoder`, but a long message is decoded in parts of about `partBytes`, each by a `next` of what it returns. */
export function decoderInParts<Desc extends DescMessage>(
  desc: Desc,
  elementsMax?: number,
  partBytes: number = PART_BYTES,
): (bytes: Uint8Array) => Generator<void, MessageShape<Desc>> {
  return (bytes) => {
    const decoding = new DecodingInParts(readerOf(desc, bytes, elementsMax), decoderOf, partBytes);
    return decoding.read(desc, bytes.length, undefined, 1) as Generator<void, MessageShape<Desc>>;
  };
}

/** An unknown caller, for whom `elementsMax` is set, must cost nothing beyond it. */
function readerOf(desc: DescMessage, bytes: Uint8Array, elementsMax?: number): WireReader {
  if (elementsMax !== undefined) refuseTooManyElements(desc, bytes, elementsMax);
  return new WireReader(bytes, elementsMax ?? ELEMENTS_MAX);
}

function decoderOf(desc: DescMessage): MessageDecoder {
  return compiledOnce(decoders, desc, compileDecoder);
}

function compiledOnce<T>(all: WeakMap<DescMessage, T>, desc: DescMessage, compile: (desc: DescMessage) => T): T {
  const known = all.get(desc);
  if (known !== undefined) return known;
  const compiled = compile(desc);
  all.set(desc, compiled);
  return compiled;
}

/** For frames, which are encoded item by item before they are written. */
export function passBytes(bytes: Buffer): Buffer {
  return bytes;
}

export function callMetadata(entries: Readonly<Record<string, string>> = {}): Metadata {
  const metadata = new Metadata();
  for (const [name, text] of Object.entries(entries)) metadata.set(name, text);
  return metadata;
}

// Checks, before it is decoded, whether a long message of an unknown caller has too many fields and entries: each would
// be an object or a value in memory, and 200,000 of two bytes are 20 MiB. Decoders count as well, but the objects they
// made by then have to be collected.

/** Every element takes two bytes or more, so a shorter message cannot have many. */
const COUNTED_FROM_BYTES = 32 * 1024;

const nested = new WeakMap<DescMessage, Map<number, DescMessage | 'packed'>>();

/** @throws TooManyElements; malformed bytes are for the decoder to refuse */
function refuseTooManyElements(desc: DescMessage, bytes: Uint8Array, max: number): void {
  if (bytes.length < COUNTED_FROM_BYTES) return;
  try {
    countIn(desc, new WireReader(bytes, max), bytes.length, 1);
  } catch (error) {
    if (error instanceof TooManyElements) throw error;
  }
}

function countIn(desc: DescMessage, reader: WireReader, end: number, depth: number): void {
  const inner = nestedOf(desc);
  while (reader.pos < end) {
    const tag = reader.tag();
    const kind = (tag & 7) === 2 ? inner.get(tag >>> 3) : undefined;
    if (kind === undefined) reader.skip(tag, depth);
    else if (kind === 'packed') reader.pos = reader.packedEnd();
    else {
      const length = reader.uint();
      countIn(kind, reader, reader.pos + length, depth + 1);
    }
  }
}

/** Fields whose bytes contain more elements: messages, and lists of numbers. */
function nestedOf(desc: DescMessage): Map<number, DescMessage | 'packed'> {
  const known = nested.get(desc);
  if (known) return known;
  const fields = new Map<number, DescMessage | 'packed'>();
  for (const field of desc.fields) {
    const kind = kindOf(field);
    if (kind !== null) fields.set(field.number, kind);
  }
  nested.set(desc, fields);
  return fields;
}

function kindOf(field: DescField): DescMessage | 'packed' | null {
  if (field.fieldKind === 'message') return field.message;
  if (field.fieldKind !== 'list') return null;
  if (field.listKind === 'message') return field.message;
  if (field.listKind === 'enum') return 'packed';
  return field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES ? null : 'packed';
}
