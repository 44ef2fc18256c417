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

export function decoder<Desc extends DescMessage>(desc: Desc): (bytes: Buffer) => MessageShape<Desc> {
  return (bytes) => fromBinary(desc, bytes);
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
