// Protobuf-es messages to the bytes grpc-js carries and back, and the small things every call needs.
import type { DescMessage, DescMethod, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { Metadata } from '@grpc/grpc-js';
import { DecodingInParts } from './decode-in-parts.ts';
import { compileDecoder, type MessageDecoder } from './decoder-code.ts';
import { compileEncoder, type MessageEncoder } from './encoder-code.ts';
import { refuseTooManyElements } from './wire-elements.ts';
import { WireReader } from './wire-reader.ts';
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
