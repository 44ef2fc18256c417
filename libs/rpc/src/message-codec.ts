// Protobuf-es messages to the bytes grpc-js carries and back, and the small things every call needs.
import {
  create,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { Metadata } from '@grpc/grpc-js';
import { hasElementsWithin, NESTING_MAX } from './wire-elements.ts';

/** A run of 10,000 steps with their checks has some 300,000. */
const ELEMENTS_MAX = 1_000_000;

// Unknown fields would be kept as objects, and passed on when the message is encoded again.
const READING = { readUnknownFields: false, recursionLimit: NESTING_MAX };

export function methodPath(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

/** Takes a message or a plain object of its shape; only the latter is made into a message. */
export function encoder<Desc extends DescMessage>(desc: Desc): (message: MessageInitShape<Desc>) => Buffer {
  return (message) => {
    const bytes = toBinary(desc, '$typeName' in message ? (message as MessageShape<Desc>) : create(desc, message));
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };
}

/** The decoder throws on what is malformed, nested too deeply, or has more fields and entries than `elementsMax`. */
export function decoder<Desc extends DescMessage>(
  desc: Desc,
  elementsMax: number = ELEMENTS_MAX,
): (bytes: Uint8Array) => MessageShape<Desc> {
  return (bytes) => {
    if (!hasElementsWithin(desc, bytes, elementsMax)) throw new RangeError('a message has too many fields or entries');
    return fromBinary(desc, bytes, READING);
  };
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
