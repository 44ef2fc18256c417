// Owns the turn of types into JSON Schema 2020-12.
import type { JsonSchema, JsonValue } from '../json.ts';
import { fileSchema } from './file-schema.ts';
import type { Bounds, Field, ObjectType, Type } from './type.ts';

export const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

// A result may name the same large out many times; each is written in full in the schema, so the whole is bounded.
const NODES_MAX = 10_000;

/** The schema would be unreasonably large. */
export class SchemaTooLarge extends Error {}

type Draft = { [keyword: string]: JsonValue };

/**
 * Writes the schemas of one method. Definitions of named types are written once and shared: two hundred steps may each use
 * a hundred types.
 */
export class SchemaWriter {
  readonly #definitions = new Map<string, { readonly schema: Draft; readonly uses: ReadonlySet<string> }>();
  #uses = new Set<string>();
  #nodes = 0;

  /** The closed schema of an object type, with the named types it uses under `$defs`. Throws `SchemaTooLarge`. */
  schemaOf(type: ObjectType): JsonSchema {
    this.#uses = new Set();
    this.#nodes = 0;
    const root = this.#write(type);
    const definitions: Draft = {};
    const waiting = [...this.#uses];
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      const definition = this.#definitions.get(name);
      if (!definition || Object.hasOwn(definitions, name)) continue;
      definitions[name] = definition.schema;
      waiting.push(...definition.uses);
    }
    return { $schema: DIALECT, ...root, ...(Object.keys(definitions).length === 0 ? {} : { $defs: definitions }) };
  }

  #named(name: string, type: Type): Draft {
    this.#uses.add(name);
    if (!this.#definitions.has(name)) {
      const outer = this.#uses;
      this.#uses = new Set();
      const schema = this.#write(type);
      this.#definitions.set(name, { schema, uses: this.#uses });
      this.#uses = outer;
    }
    return { $ref: `#/$defs/${name}` };
  }

  #write(type: Type): Draft {
    if (++this.#nodes > NODES_MAX) throw new SchemaTooLarge(`a schema has at most ${NODES_MAX} parts`);
    switch (type.kind) {
      case 'any':
        return {};
      case 'null':
      case 'boolean':
        return { type: type.kind };
      case 'open':
        return { type: 'object' };
      case 'file':
        return { ...fileSchema() };
      case 'secret':
        return { type: 'string', 'x-secret': true };
      case 'number':
      case 'integer':
        return { type: type.kind, ...numberBounds(type.bounds) };
      case 'string':
        return {
          type: 'string',
          ...(type.format === undefined ? {} : { format: type.format }),
          ...countBounds(type.bounds, 'minLength', 'maxLength'),
          ...(type.pattern === undefined ? {} : { pattern: type.pattern.source }),
          ...(type.textarea ? { 'x-widget': 'textarea' } : {}),
        };
      case 'choice':
        return { enum: [...type.values] };
      case 'list':
        return { type: 'array', items: this.#write(type.of), ...countBounds(type.bounds, 'minItems', 'maxItems') };
      case 'map':
        return {
          type: 'object',
          additionalProperties: this.#write(type.of),
          ...countBounds(type.bounds, 'minProperties', 'maxProperties'),
        };
      case 'object':
        return this.#object(type);
      case 'union':
        return this.#union(type.of);
      case 'named':
        return this.#named(type.name, type.definition.type);
      case 'raw':
        return type.schema as Draft;
    }
  }

  #object(type: ObjectType): Draft {
    const properties: Draft = {};
    const required: string[] = [];
    for (const [name, field] of type.fields) {
      properties[name] = this.#field(field);
      if (!field.optional && field.default === undefined) required.push(name);
    }
    return { type: 'object', properties, required, additionalProperties: false };
  }

  #field(field: Field): Draft {
    return {
      ...(field.title === undefined ? {} : { title: field.title }),
      ...(field.description === undefined ? {} : { description: field.description }),
      ...this.#write(field.type),
      ...(field.default === undefined ? {} : { default: field.default as JsonValue }),
      ...(field.examples === undefined ? {} : { examples: field.examples as JsonValue[] }),
    };
  }

  /** `T | null` keeps T's keywords beside a type list; two objects cannot meet here (M306). */
  #union(members: readonly Type[]): Draft {
    const others = members.filter((member) => member.kind !== 'null');
    const nullable = others.length < members.length;
    const written = others.map((member) => this.#write(member));
    const only = written.length === 1 ? written[0] : undefined;
    if (nullable && only && Array.isArray(only.enum)) return { ...only, enum: [...only.enum, null] };
    if (nullable && only && typeof only.type === 'string') return { ...only, type: [only.type, 'null'] };
    if (written.every((schema) => Object.keys(schema).join() === 'type' && typeof schema.type === 'string')) {
      return { type: [...written.map((schema) => schema.type as string), ...(nullable ? ['null'] : [])] };
    }
    return { anyOf: [...written, ...(nullable ? [{ type: 'null' }] : [])] };
  }
}

function numberBounds(bounds: Bounds): Draft {
  return {
    ...(bounds.min === undefined ? {} : { [bounds.minExclusive ? 'exclusiveMinimum' : 'minimum']: bounds.min }),
    ...(bounds.max === undefined ? {} : { [bounds.maxExclusive ? 'exclusiveMaximum' : 'maximum']: bounds.max }),
  };
}

function countBounds(bounds: Bounds, min: string, max: string): Draft {
  return {
    ...(bounds.min === undefined ? {} : { [min]: bounds.min }),
    ...(bounds.max === undefined ? {} : { [max]: bounds.max }),
  };
}
