// The text of a TypeScript file with the types of one method. With the method's id it also types calls of the client
// library: `client.run({ method: 'wf_…' })` finds them by the id in the library's interface `MethodTypes`. What TypeScript
// cannot express (ranges, patterns) becomes a comment; unknown keywords become `unknown`, so that a type never refuses a
// valid value.
import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  ownField,
} from '@methods/method/json';
import { definitionsOf, type MethodShape, oneLine, TypeNames } from './method-shape.ts';
import { wordsOf } from './schema-words.ts';

/** `about` names the source of the types in the file's first line. */
export function typescriptFile(shape: MethodShape, about: string): string {
  const { title, inputs, result, answers } = shape;
  const names = new TypeNames(shape.name);
  const inputsName = names.take('Inputs');
  const resultName = names.take('Result');
  const answersName = answers.size > 0 ? names.take('Answers') : 'Record<string, never>';
  const definitions = definitionsOf(shape);
  // Defines all names first, since types may refer to each other.
  for (const name of definitions.keys()) names.define(name);
  const answerTypes = [...answers].map(([step, form]) => ({ step, form, name: names.take(`${step}/answer`) }));
  const parts = [
    ...[...definitions].map(([name, definition]) => declared(names.ofDefinition(name) ?? name, definition, '', names)),
    declared(inputsName, inputs, `What ${title} is started with.`, names),
    declared(resultName, result, `What ${title} gives.`, names),
    ...answerTypes.map(({ step, form, name }) => declared(name, form, `An answer to the question of ${step}.`, names)),
  ];
  if (answers.size > 0) {
    const fields = answerTypes.map(({ step, name }) => `  ${JSON.stringify(step)}: ${name};`);
    parts.push(`/** Answers by the step that asks. */\nexport type ${answersName} = {\n${fields.join('\n')}\n};`);
  }
  if (shape.id !== null) parts.push(merged(shape.id, { inputsName, resultName, answersName }));
  return `// ${oneLine(about)}\n\n${parts.join('\n\n')}\n`;
}

function declared(typeName: string, schema: JsonValue, about: string, names: TypeNames): string {
  const described = isJsonObject(schema) ? schema : {};
  const comment = commentOf(about === '' ? described : { description: about }, '');
  const type = typescriptOfSchema(schema, (name) => names.ofDefinition(name));
  return [...comment, `export type ${typeName} = ${type};`].join('\n');
}

interface Names {
  readonly inputsName: string;
  readonly resultName: string;
  readonly answersName: string;
}

function merged(id: string, { inputsName, resultName, answersName }: Names): string {
  return `declare module '@methods/client' {
  interface MethodTypes {
    ${id}: { inputs: ${inputsName}; result: ${resultName}; answers: ${answersName} };
  }
}`;
}

const LEVELS_MAX = 64;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
/** `definitionName` gives the type for a name of `$defs`; `indent` is that of the line the type starts on. */
export function typescriptOfSchema(
  schema: JsonValue | undefined,
  definitionName: (name: string) => string | undefined,
  indent = '',
): string {
  return new TypeWriter(definitionName).write(schema, indent, 0);
}

class TypeWriter {
  constructor(private readonly definitionName: (name: string) => string | undefined) {}

  write(schema: JsonValue | undefined, indent: string, level: number): string {
    if (schema === false) return 'never';
    if (!isJsonObject(schema) || level > LEVELS_MAX) return 'unknown';
    const parts = [
      this.reference(schema),
      literals(schema),
      ...this.combined(schema, indent, level),
      this.typed(schema, indent, level),
    ].filter((part) => part !== undefined);
    const told = [...new Set(parts)].filter((part) => part !== 'unknown');
    // An enumeration, or a const, is narrower than the type beside it.
    const [only = 'unknown'] = told;
    if (told.length < 2 || literals(schema) !== undefined) return literals(schema) ?? only;
    return told.map(inBrackets).join(' & ');
  }

  private reference(schema: JsonObject): string | undefined {
    const reference = ownField(schema, '$ref');
    if (typeof reference !== 'string') return undefined;
    const name = /^#\/\$defs\/([^/]+)$/.exec(reference)?.[1];
    return (name === undefined ? undefined : this.definitionName(name)) ?? 'unknown';
  }

  private combined(schema: JsonObject, indent: string, level: number): string[] {
    const of = (keyword: string) => {
      const members = ownField(schema, keyword);
      return isJsonList(members) ? members.map((member) => this.write(member, indent, level + 1)) : [];
    };
    const parts = of('allOf');
    for (const keyword of ['anyOf', 'oneOf']) {
      const members = of(keyword);
      if (members.length > 0) parts.push(unionOf(members));
    }
    return parts;
  }

  private typed(schema: JsonObject, indent: string, level: number): string | undefined {
    const type = ownField(schema, 'type');
    if (isJsonList(type)) return unionOf(type.map((each) => this.plain(each, schema, indent, level)));
    return type === undefined ? undefined : this.plain(type, schema, indent, level);
  }

  private plain(type: JsonValue, schema: JsonObject, indent: string, level: number): string {
    switch (type) {
      case 'null':
      case 'boolean':
      case 'string':
      case 'number':
        return type;
      case 'integer':
        return 'number';
      case 'array':
        return this.list(schema, indent, level);
      case 'object':
        return this.object(schema, indent, level);
      default:
        return 'unknown';
    }
  }

  private list(schema: JsonObject, indent: string, level: number): string {
    const first = ownField(schema, 'prefixItems');
    const item = this.write(ownField(schema, 'items'), indent, level + 1);
    if (!isJsonList(first)) return `${inBrackets(item)}[]`;
    // A list may be shorter unless `minItems` sets the number of items.
    const places = first.map((place) => `(${this.write(place, indent, level + 1)})?`);
    return `[${[...places, ...(item === 'never' ? [] : [`...${inBrackets(item)}[]`])].join(', ')}]`;
  }

  private object(schema: JsonObject, indent: string, level: number): string {
    const properties = ownField(schema, 'properties');
    const rest = ownField(schema, 'additionalProperties');
    const fields = isJsonObject(properties) ? Object.entries(properties) : [];
    const others = ownField(schema, 'patternProperties') === undefined ? rest : true;
    if (fields.length === 0) {
      if (others === false) return 'Record<string, never>';
      return `{ [name: string]: ${this.write(others === true ? undefined : others, indent, level + 1)} }`;
    }
    const required = ownField(schema, 'required');
    const needed = new Set(isJsonList(required) ? required : []);
    const inner = `${indent}  `;
    const lines = fields.flatMap(([name, field]) => [
      ...commentOf(field, inner),
      `${inner}${keyOf(name)}${needed.has(name) ? '' : '?'}: ${this.write(field, inner, level + 1)};`,
    ]);
    // Further fields may have any type: TypeScript requires the named fields to fit it as well.
    if (others !== false && others !== undefined) lines.push(`${inner}[name: string]: unknown;`);
    return `{\n${lines.join('\n')}\n${indent}}`;
  }
}

function literals(schema: JsonObject): string | undefined {
  const constant = ownField(schema, 'const');
  if (constant !== undefined) return literalOf(constant);
  const values = ownField(schema, 'enum');
  return isJsonList(values) ? unionOf(values.map(literalOf)) : undefined;
}

function literalOf(value: JsonValue): string {
  return typeof value === 'object' && value !== null ? 'unknown' : JSON.stringify(value);
}

function unionOf(members: readonly string[]): string {
  if (members.includes('unknown')) return 'unknown';
  const different = [...new Set(members)].filter((member) => member !== 'never');
  if (different.length === 0) return 'never';
  return different.length === 1 ? (different[0] ?? 'never') : different.map(inUnion).join(' | ');
}

/** Puts brackets around a type that binds less than `[]` and `&`. */
function inBrackets(type: string): string {
  return / [|&] /.test(withoutBraces(type)) ? `(${type})` : type;
}

function inUnion(type: string): string {
  return / & /.test(withoutBraces(type)) ? `(${type})` : type;
}

/** Only operators outside of braces, brackets and quotes bind. */
function withoutBraces(type: string): string {
  let depth = 0;
  let outside = '';
  for (const [part] of type.matchAll(/"(?:[^"\\]|\\.)*"|\/\*[\s\S]*?\*\/|[\s\S]/g)) {
    if (/^[{[(]$/.test(part)) depth++;
    if (depth === 0 && part.length === 1) outside += part;
    if (/^[}\])]$/.test(part)) depth--;
  }
  return outside;
}

function keyOf(name: string): string {
  return IDENTIFIER.test(name) ? name : JSON.stringify(name);
}

/** Lines of a comment; none where there is nothing to add. `schema` is a field's or a whole type's. */
function commentOf(schema: JsonValue | JsonSchema | undefined, indent: string): string[] {
  const lines = wordsOf(schema).map((line) => line.replaceAll('*/', '*\\/'));
  if (lines.length < 2) return lines.map((line) => `${indent}/** ${line} */`);
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`), `${indent} */`];
}
