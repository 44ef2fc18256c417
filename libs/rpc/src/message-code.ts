// Shared by the code of encoders and decoders: the messages it is for, and their names in it.
import type { DescMessage } from '@bufbuild/protobuf';

/** A message and all that its fields hold, at any depth. */
export function messagesWithin(desc: DescMessage): DescMessage[] {
  const found = new Set([desc]);
  // Messages added while the set is walked are walked too.
  for (const message of found) {
    for (const field of message.fields) if (field.message !== undefined) found.add(field.message);
  }
  return [...found];
}

export function nameOf(desc: DescMessage): string {
  return desc.typeName.replaceAll('.', '_');
}
