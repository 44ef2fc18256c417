// Finds the places of a value whose schema is of one kind, such as those of the type `file`, and replaces them.
import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  objectOf,
  ownField,
} from './json.ts';

type Path = readonly string[];
/** Takes the value at one place and returns its replacement. */
type Replace = (value: JsonValue, path: Path) => JsonValue;

/** `value` with each object at a place of the type `file` replaced. Schemas have no recursion. */
export function replaceFiles(
  schema: JsonSchema,
  value: JsonValue,
  replace: (file: JsonObject, path: Path) => JsonValue,
) {
  if (!mayTakeFiles(schema)) return value;
  const isFile = (own: JsonObject, at: JsonValue) => own['x-type'] === 'file' && isJsonObject(at);
  return new Places(schema, isFile, (file, path) => replace(file as JsonObject, path)).within(schema, value, []);
}

/** By schema: most have no place for a file, and no value has to be walked for them. */
const taking = new WeakMap<JsonSchema, boolean>();

function mayTakeFiles(schema: JsonSchema): boolean {
  let takes = taking.get(schema);
  if (takes === undefined) {
    takes = JSON.stringify(schema).includes('"x-type":"file"');
    taking.set(schema, takes);
  }
  return takes;
}

/** The objects at places of the type `file`. */
export function fileFields(schema: JsonSchema, value: JsonValue): readonly { file: JsonObject; path: Path }[] {
  const found: { file: JsonObject; path: Path }[] = [];
  replaceFiles(schema, value, (file, path) => {
    found.push({ file, path });
    return file;
  });
  return found;
}

/** The texts at places of the type `secret`. */
export function secretFields(schema: JsonSchema, value: JsonValue): readonly { text: string; path: Path }[] {
  const found: { text: string; path: Path }[] = [];
  const isSecret = (own: JsonObject, at: JsonValue) => own['x-secret'] === true && typeof at === 'string';
  new Places(schema, isSecret, (text, path) => {
    found.push({ text: text as string, path });
    return text;
  }).within(schema, value, []);
  return found;
}

class Places {
  private readonly types: JsonValue | undefined;

  constructor(
    root: JsonSchema,
    private readonly isOne: (schema: JsonObject, value: JsonValue) => boolean,
    private readonly replace: Replace,
  ) {
    this.types = ownField(root, '$defs');
  }

  within(schema: JsonValue | undefined, value: JsonValue, path: Path): JsonValue {
    if (!isJsonObject(schema)) return value;
    if (this.isOne(schema, value)) return this.replace(value, path);
    if (typeof value !== 'object' && schema.$ref === undefined && schema.anyOf === undefined) return value;
    const { $ref, anyOf, items, properties, additionalProperties } = schema;
    if (typeof $ref === 'string' && isJsonObject(this.types)) {
      return this.within(ownField(this.types, $ref.replace('#/$defs/', '')), value, path);
    }
    if (isJsonList(anyOf)) return anyOf.reduce<JsonValue>((left, member) => this.within(member, left, path), value);
    if (isJsonList(value)) {
      return items === undefined ? value : value.map((item, i) => this.within(items, item, [...path, String(i)]));
    }
    if (!isJsonObject(value)) return value;
    if (properties === undefined && additionalProperties === undefined) return value;
    const members = Object.entries(value).map(([name, member]): [string, JsonValue] => {
      const own = isJsonObject(properties) ? ownField(properties, name) : undefined;
      return [name, this.within(own ?? additionalProperties, member, [...path, name])];
    });
    return objectOf(members);
  }
}
