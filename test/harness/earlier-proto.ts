// Messages as processes of the release before write and read them: by the committed image of its proto files.
import { readFileSync } from 'node:fs';
import {
  createFileRegistry,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonObject,
  toBinary,
  toJson,
} from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';

const IMAGE = new URL('../../proto/baseline.binpb', import.meta.url);
const earlier = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(IMAGE)));

/** @throws for a field that the earlier release does not have */
export function writtenEarlier(type: DescMessage, fields: JsonObject): Uint8Array {
  const message = fromJson(earlierOf(type), fields);
  return toBinary(earlierOf(type), message);
}

/** The fields that the earlier release finds. */
export function readEarlier(type: DescMessage, bytes: Uint8Array): JsonObject {
  const desc = earlierOf(type);
  return toJson(desc, fromBinary(desc, bytes)) as JsonObject;
}

function earlierOf({ typeName }: DescMessage): DescMessage {
  const desc = earlier.getMessage(typeName);
  if (desc === undefined) throw new Error(`the earlier release has no ${typeName}`);
  return desc;
}
