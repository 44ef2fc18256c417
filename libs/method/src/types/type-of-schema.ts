// Owns the way back from a JSON Schema this package wrote (the interface of a called method) to a type.
import { isJsonList, isJsonObject, type JsonObject, type JsonSchema, type JsonValue, ownField } from '../json.ts';
import { numberOf, textOf } from './schema-keywords.ts';
import { type Bounds, type Field, type ScalarValue, type Type, unionOf } from './type.ts';

const LEVELS_MAX = 32;
const PARTS_MAX = 5_000;
const ANY: Type = { kind: 'any' };

// Two hundred steps may call the same method.
const known = new WeakMap<JsonSchema, Type>();

/** The type of a schema. Unknown parts are `any`, so that a check against it never refuses a valid value. */
export function typeOfSchema(schema: JsonSchema): Type {
  let type = known.get(schema);
  if (type === undefined) {
    const definitions = ownField(schema, '$defs');
    type = new SchemaReader(isJsonObject(definitions) ? definitions : {}).read(schema, 0);
    known.set(schema, type);
  }
  return type;
}

class SchemaReader {
  readonly #definitions: JsonObject;
  #parts = 0;

  constructor(definitions: JsonObject) {
    this.#definitions = definitions;
  }

  read(schema: JsonValue | undefined, level: number): Type {
    if (!isJsonObject(schema) || level > LEVELS_MAX || ++this.#parts > PARTS_MAX) return ANY;
    const reference = /^#\/\$defs\/(\w+)$/.exec(textOf(schema, '$ref'))?.[1];
    if (reference !== undefined) return this.read(ownField(this.#definitions, reference), level + 1);
    const choice = ownField(schema, 'enum');
    if (isJsonList(choice)) {
      const values = choice.filter((value): value is ScalarValue => typeof value !== 'object' || value === null);
      return values.length === choice.length ? { kind: 'choice', values } : ANY;
    }
    const members = ownField(schema, 'anyOf');
    if (isJsonList(members)) return unionOf(members.map((member) => this.read(member, level + 1)));
    const types = ownField(schema, 'type');
    if (isJsonList(types)) return unionOf(types.map((type) => this.#plain(schema, type, level)));
    return this.#plain(schema, types, level);
  }

  #plain(schema: JsonObject, type: JsonValue | undefined, level: number): Type {
    switch (type) {
      case 'null':
      case 'boolean':
        return { kind: type };
      case 'number':
      case 'integer':
        return { kind: type, bounds: numberBounds(schema) };
      case 'string': {
        const format = textOf(schema, 'format');
        return { kind: 'string', bounds: countBounds(schema, 'Length'), ...(format === '' ? {} : { format }) };
      }
      case 'array':
        return {
          kind: 'list',
          of: this.read(ownField(schema, 'items'), level + 1),
          bounds: countBounds(schema, 'Items'),
        };
      case 'object':
        return this.#object(schema, level);
      default:
        return ANY;
    }
  }

  #object(schema: JsonObject, level: number): Type {
    if (textOf(schema, 'x-type') === 'file') return { kind: 'file' };
    const rest = ownField(schema, 'additionalProperties');
    const properties = ownField(schema, 'properties');
    if (isJsonObject(rest))
      return { kind: 'map', of: this.read(rest, level + 1), bounds: countBounds(schema, 'Properties') };
    if (rest !== false || !isJsonObject(properties)) return { kind: 'open' };
    const required = ownField(schema, 'required');
    const needed = new Set(isJsonList(required) ? required : []);
    const fields = Object.entries(properties).map(([name, property]): [string, Field] => [
      name,
      { type: this.read(property, level + 1), optional: !needed.has(name) },
    ]);
    return { kind: 'object', fields: new Map(fields) };
  }
}

function countBounds(schema: JsonObject, of: 'Length' | 'Items' | 'Properties'): Bounds {
  return bounds(numberOf(schema, `min${of}`), numberOf(schema, `max${of}`));
}

function numberBounds(schema: JsonObject): Bounds {
  const above = numberOf(schema, 'exclusiveMinimum');
  const below = numberOf(schema, 'exclusiveMaximum');
  return {
    ...bounds(above ?? numberOf(schema, 'minimum'), below ?? numberOf(schema, 'maximum')),
    ...(above === undefined ? {} : { minExclusive: true }),
    ...(below === undefined ? {} : { maxExclusive: true }),
  };
}

function bounds(min: number | undefined, max: number | undefined): Bounds {
  return { ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) };
}
