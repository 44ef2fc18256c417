// The text of a Python module with the types of one method, for Python 3.9 and newer without further packages. JSON
// objects are TypedDicts, so that values from and for the API need no conversion. A type never refuses a valid value:
// what Python cannot express is `Any`, and what a type does not say becomes a comment.
import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  ownField,
} from '@methods/method/json';
import { definitionsOf, hintOf, type MethodShape, oneLine, TypeNames } from './method-shape.ts';
import { wordsOf } from './schema-words.ts';

const LEVELS_MAX = 64;
/** Two leading underscores would be mangled inside a class. */
const FIELD = /^(?!__)[A-Za-z_][A-Za-z0-9_]*$/;
const KEYWORDS: ReadonlySet<string> = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global ' +
    'if import in is lambda nonlocal not or pass raise return try while with yield'
  ).split(' '),
);
const TYPING = ['Any', 'Dict', 'Final', 'List', 'Literal', 'Optional', 'TypedDict', 'Union'];

/** `about` names the source of the types in the module's first line. */
export function pythonFile(shape: MethodShape, about: string): string {
  const names = new TypeNames(shape.name, TYPING);
  const writer = new PythonTypes(names);
  const { title, inputs, result, answers } = shape;
  const inputsName = names.take('Inputs');
  const resultName = names.take('Result');
  const definitions = definitionsOf(shape);
  // Defines all names first, since types may refer to each other.
  for (const name of definitions.keys()) names.define(name);
  for (const [name, definition] of definitions) {
    writer.declare(names.ofDefinition(name) ?? name, definition, wordsOf(definition));
  }
  writer.declare(inputsName, inputs, [`What ${title} is started with.`]);
  writer.declare(resultName, result, [`What ${title} gives.`]);
  for (const [step, form] of answers) {
    writer.declare(names.take(`${step}/answer`), form, [`An answer to the question of ${step}.`]);
  }
  const body = writer.text();
  const id = shape.id === null ? '' : `METHOD_ID: Final = ${JSON.stringify(shape.id)}\n\n\n`;
  const used = TYPING.filter((name) => new RegExp(`\\b${name}\\b`).test(withoutComments(id + body)));
  const imports = used.length === 0 ? '' : `from typing import ${used.join(', ')}\n\n`;
  return `# ${oneLine(about)}\n\n${imports}${imports === '' ? '' : '\n'}${id}${body}`;
}

function withoutComments(text: string): string {
  return text.replace(/^ *#.*$/gm, '');
}

/** The types of one module. Names of types are quoted where they are used: they may be defined later. */
class PythonTypes {
  private readonly parts: string[] = [];

  constructor(private readonly names: TypeNames) {}

  text(): string {
    return `${this.parts.join('\n\n\n')}\n`;
  }

  declare(name: string, schema: JsonValue | JsonSchema, words: readonly string[]): void {
    const comment = words.map((line) => `# ${line}\n`).join('');
    const fields = fieldsOf(schema);
    if (fields === null) this.parts.push(`${comment}${name} = ${this.type(schema, `${name}Value`, 0)}`);
    else this.object(name, fields, comment, 0);
  }

  /** `name`: what an object in it is called, since it needs a name of its own. */
  private type(schema: JsonValue | undefined, name: string, level: number): string {
    if (!isJsonObject(schema) || level > LEVELS_MAX) return 'Any';
    const constant = ownField(schema, 'const');
    const values = constant === undefined ? ownField(schema, 'enum') : [constant];
    if (isJsonList(values)) return literalsOf(values);
    const reference = /^#\/\$defs\/([^/]+)$/.exec(String(ownField(schema, '$ref')))?.[1];
    const defined = reference === undefined ? undefined : this.names.ofDefinition(reference);
    if (defined !== undefined) return `"${defined}"`;
    for (const keyword of ['anyOf', 'oneOf']) {
      const members = ownField(schema, keyword);
      if (isJsonList(members)) return unionOf(members.map((member) => this.type(member, name, level + 1)));
    }
    const type = ownField(schema, 'type');
    if (isJsonList(type)) return unionOf(type.map((each) => this.plain(each, schema, name, level)));
    return this.plain(type, schema, name, level);
  }

  private plain(type: JsonValue | undefined, schema: JsonObject, name: string, level: number): string {
    switch (type) {
      case 'null':
        return 'None';
      case 'boolean':
        return 'bool';
      case 'string':
        return 'str';
      case 'integer':
        return 'int';
      case 'number':
        return 'float';
      case 'array': {
        // The types of single places cannot be expressed for a list.
        const items = ownField(schema, 'prefixItems') === undefined ? ownField(schema, 'items') : undefined;
        return `List[${this.type(items, `${name}Item`, level + 1)}]`;
      }
      case 'object':
        return this.map(schema, name, level);
      default:
        return 'Any';
    }
  }

  private map(schema: JsonObject, name: string, level: number): string {
    const fields = fieldsOf(schema);
    if (fields === null) {
      const rest =
        ownField(schema, 'patternProperties') === undefined ? ownField(schema, 'additionalProperties') : true;
      const named = isJsonObject(ownField(schema, 'properties'));
      return `Dict[str, ${named ? 'Any' : this.type(rest, `${name}Value`, level + 1)}]`;
    }
    const own = this.names.unique(name);
    this.object(own, fields, '', level);
    return `"${own}"`;
  }

  private object(name: string, fields: readonly Field[], comment: string, level: number): void {
    const typed = fields.map((field) => ({
      ...field,
      type: this.type(field.schema, hintOf(name, field.name), level + 1),
    }));
    const needed = typed.filter(({ required }) => required);
    const others = typed.filter(({ required }) => !required);
    if (others.length === 0) return this.dict(name, [], needed, comment);
    if (needed.length === 0) return this.dict(name, [], others, comment, false);
    // NotRequired would need Python 3.11.
    const base = `_${name}Optional`;
    this.dict(base, [], others, '', false);
    this.dict(name, [base], needed, comment);
  }

  private dict(name: string, bases: readonly string[], fields: readonly TypedField[], comment: string, total = true) {
    const end = total ? '' : ', total=False';
    if (fields.every((field) => FIELD.test(field.name) && !KEYWORDS.has(field.name))) {
      const lines = fields.flatMap(({ name: key, type, schema }) => [...comments(schema), `    ${key}: ${type}`]);
      const body = lines.length === 0 ? '    pass' : lines.join('\n');
      this.parts.push(`${comment}class ${name}(${bases.length > 0 ? bases.join(', ') : 'TypedDict'}${end}):\n${body}`);
      return;
    }
    // Other names have no place in a class.
    const own = bases.length === 0 ? name : `_${name}Required`;
    const lines = fields.flatMap(({ name: key, type, schema }) => [
      ...comments(schema),
      `        ${JSON.stringify(key)}: ${type},`,
    ]);
    const call = `${own} = TypedDict(\n    "${own}",\n    {\n${lines.join('\n')}\n    },${total ? '' : '\n    total=False,'}\n)`;
    this.parts.push(bases.length === 0 ? `${comment}${call}` : call);
    if (bases.length > 0) this.parts.push(`${comment}class ${name}(${[own, ...bases].join(', ')}):\n    pass`);
  }
}

interface Field {
  readonly name: string;
  readonly schema: JsonValue;
  readonly required: boolean;
}

interface TypedField extends Field {
  readonly type: string;
}

/** The fields of an object that has no others; null for every other schema. */
function fieldsOf(schema: JsonValue | JsonSchema): Field[] | null {
  if (!isJsonObject(schema) || ownField(schema, 'type') !== 'object') return null;
  const properties = ownField(schema, 'properties');
  const rest = ownField(schema, 'additionalProperties');
  const isOpen = (rest !== undefined && rest !== false) || ownField(schema, 'patternProperties') !== undefined;
  if (!isJsonObject(properties) || isOpen) return null;
  const required = ownField(schema, 'required');
  const needed = new Set(isJsonList(required) ? required : []);
  return Object.entries(properties).map(([name, field]) => ({ name, schema: field, required: needed.has(name) }));
}

function comments(schema: JsonValue): string[] {
  return wordsOf(schema).map((line) => `    # ${line}`);
}

function literalsOf(values: readonly JsonValue[]): string {
  // Numbers with a fraction, lists and objects have no literal types.
  const literals = values.map((value) => {
    if (typeof value === 'boolean') return value ? 'True' : 'False';
    if (value === null) return 'None';
    return typeof value === 'string' || Number.isInteger(value) ? JSON.stringify(value) : null;
  });
  return literals.includes(null) || literals.length === 0 ? 'Any' : `Literal[${[...new Set(literals)].join(', ')}]`;
}

function unionOf(members: readonly string[]): string {
  if (members.length === 0 || members.includes('Any')) return 'Any';
  const different = [...new Set(members)].filter((member) => member !== 'None');
  const union = different.length === 1 ? (different[0] ?? 'Any') : `Union[${different.join(', ')}]`;
  if (different.length === 0) return 'None';
  return members.includes('None') ? `Optional[${union}]` : union;
}
