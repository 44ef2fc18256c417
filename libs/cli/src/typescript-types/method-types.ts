// The text of a TypeScript file with the types of one method: its inputs, its result, and the types they name.
import type { CompiledMethod } from '@methods/method/compiled-method';
import { isJsonObject, type JsonSchema, type JsonValue, ownField } from '@methods/method/json';
import { commentOf, typescriptOfSchema } from './typescript-of-schema.ts';

type Described = Pick<CompiledMethod, 'name' | 'title' | 'inputSchema' | 'resultSchema'>;

/** `about` names the source of the types in the file's first line. */
export function methodTypes({ name, title, inputSchema, resultSchema }: Described, about: string): string {
  const names = new TypeNames(pascalCase(name));
  const inputs = names.take('Inputs');
  const result = names.take('Result');
  const called = title ?? name;
  const parts = [
    ...namedTypes([inputSchema, resultSchema], names),
    declared(inputs, inputSchema, `What ${called} is started with.`, names),
    declared(result, resultSchema, `What ${called} gives.`, names),
  ];
  return `// ${oneLine(about)}\n\n${parts.join('\n\n')}\n`;
}

/** The same name in inputs and result is the same entry under the method's `types`. */
function namedTypes(schemas: readonly JsonSchema[], names: TypeNames): string[] {
  const definitions = new Map<string, JsonValue>();
  for (const schema of schemas) {
    const found = ownField(schema, '$defs');
    if (isJsonObject(found)) for (const [name, definition] of Object.entries(found)) definitions.set(name, definition);
  }
  // All names first: types may name each other.
  for (const name of definitions.keys()) names.define(name);
  return [...definitions].map(([name, definition]) =>
    declared(names.ofDefinition(name) ?? name, definition, '', names),
  );
}

function declared(typeName: string, schema: JsonValue, about: string, names: TypeNames): string {
  const described = isJsonObject(schema) ? schema : {};
  const comment = commentOf(about === '' ? described : { description: oneLine(about) }, '');
  const type = typescriptOfSchema(schema, (name) => names.ofDefinition(name));
  return [...comment, `export type ${typeName} = ${type};`].join('\n');
}

/** Names of one file, each given out once. */
class TypeNames {
  private readonly taken = new Set<string>();
  private readonly definitions = new Map<string, string>();

  constructor(private readonly prefix: string) {}

  take(word: string): string {
    const wanted = `${this.prefix}${pascalCase(word)}`;
    let name = wanted;
    for (let count = 2; this.taken.has(name); count++) name = `${wanted}${count}`;
    this.taken.add(name);
    return name;
  }

  define(definition: string): void {
    if (!this.definitions.has(definition)) this.definitions.set(definition, this.take(definition));
  }

  ofDefinition(definition: string): string | undefined {
    return this.definitions.get(definition);
  }
}

function pascalCase(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  const joined = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return /^[A-Za-z]/.test(joined) ? joined : `Method${joined}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
