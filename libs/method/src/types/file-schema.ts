// The JSON Schema of the type `file`: inside a run a reference that the worker made, in a caller's inputs the id of an
// uploaded file and nothing else.
import { isJsonList, isJsonObject, type JsonObject, type JsonSchema, type JsonValue, objectOf } from '../json.ts';

const REFERENCE = {
  properties: {
    path: { type: 'string' },
    bytes: { type: 'integer', minimum: 0 },
    sha256: { type: 'string' },
    media_type: { type: 'string' },
    name: { type: 'string' },
    file_id: { type: 'string' },
  },
  required: ['path', 'bytes', 'sha256'],
};

const NAMED = {
  properties: { file_id: { type: 'string', pattern: '^file_[0-9a-z]{26}$' } },
  required: ['file_id'],
};

export function fileSchema(): JsonObject {
  return { type: 'object', 'x-type': 'file', ...REFERENCE, additionalProperties: false };
}

/** The same schema for what a caller gives: a file is `{ file_id }`. */
export function withFileIds(schema: JsonSchema): JsonSchema {
  return withFiles(schema, NAMED) as JsonSchema;
}

/** The same schema for what a run sees: a file is a reference. */
export function withFileReferences(schema: JsonSchema): JsonSchema {
  return withFiles(schema, REFERENCE) as JsonSchema;
}

function withFiles(schema: JsonValue, shape: JsonObject): JsonValue {
  if (isJsonList(schema)) return schema.map((item) => withFiles(item, shape));
  if (!isJsonObject(schema)) return schema;
  // Values of an author or a caller are not schemas.
  if (schema['x-type'] === 'file') return { ...schema, ...shape };
  return objectOf(
    Object.entries(schema).map(([key, part]) => [key, VALUES.has(key) ? part : withFiles(part, shape)] as const),
  );
}

const VALUES = new Set(['default', 'examples', 'const', 'enum']);
