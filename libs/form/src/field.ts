// Reads a question's JSON Schema as a form: its fields, their order, and what each accepts.
import { type CheckValue, compileCheck } from '@methods/method/check-value';
import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  ownField,
} from '@methods/method/json';

/** A form as people fill it in. `check` judges a whole answer and fills in its defaults. */
export interface Form {
  readonly fields: readonly Field[];
  readonly check: CheckValue;
}

export type Field = TextField | NumberField | BooleanField | ChoiceField | ListField | GroupField | JsonField;

interface AnyField {
  /** The property's name; of a list's item, the list's own. */
  readonly name: string;
  /** The schema's title, else the name. Text of the method's author. */
  readonly label: string;
  readonly description: string | null;
  /** False: the answer may leave the field out. A field with a default may always be left out. */
  readonly required: boolean;
  readonly nullable: boolean;
  /** Undefined: no default. */
  readonly default: JsonValue | undefined;
  /** With `$ref` resolved one level. */
  readonly schema: JsonSchema;
  readonly check: CheckValue;
}

export interface TextField extends AnyField {
  readonly kind: 'text';
  /** `date`, `date-time`, `time`, `email`, `uri`, …; null for free text. */
  readonly format: string | null;
  /** It may take several lines. */
  readonly long: boolean;
  readonly minLength: number | null;
  readonly maxLength: number | null;
  readonly pattern: string | null;
}

export interface NumberField extends AnyField {
  readonly kind: 'number';
  readonly integer: boolean;
  readonly minimum: number | null;
  readonly maximum: number | null;
  /** The minimum itself is too small. */
  readonly aboveMinimum: boolean;
  /** The maximum itself is too large. */
  readonly belowMaximum: boolean;
}

export interface BooleanField extends AnyField {
  readonly kind: 'boolean';
}

export interface ChoiceField extends AnyField {
  readonly kind: 'choice';
  /** At least one; never null, for which `nullable` is set. */
  readonly choices: readonly JsonValue[];
}

export interface ListField extends AnyField {
  readonly kind: 'list';
  readonly item: Field;
  readonly minItems: number;
  readonly maxItems: number | null;
}

export interface GroupField extends AnyField {
  readonly kind: 'group';
  readonly fields: readonly Field[];
}

/** A value of any other shape, written as JSON. */
export interface JsonField extends AnyField {
  readonly kind: 'json';
  /** Text matches too, so any text is accepted unchanged. */
  readonly orText: boolean;
}

// A larger or deeper form is still usable: the parts beyond the bound are written as JSON.
const FIELDS_MAX = 500;
const LEVELS_MAX = 4;

/** Reads a closed object schema, as ask steps have it. Never throws: a schema of another form has no fields. */
export function readForm(schema: JsonSchema): Form {
  const reader = new FieldReader(isJsonObject(schema.$defs) ? schema.$defs : {});
  return { fields: reader.properties(schema, 1), check: compileCheck(schema) };
}

class FieldReader {
  #left = FIELDS_MAX;

  constructor(private readonly types: JsonObject) {}

  properties(schema: JsonSchema, level: number): Field[] {
    const properties = isJsonObject(schema.properties) ? schema.properties : {};
    const required = new Set(isJsonList(schema.required) ? schema.required : []);
    return Object.entries(properties).map(([name, declared]) => {
      return this.#field(name, isJsonObject(declared) ? declared : {}, required.has(name), level);
    });
  }

  #field(name: string, declared: JsonSchema, required: boolean, level: number): Field {
    const schema = this.#resolved(declared);
    const types = typesOf(schema);
    const own = {
      name,
      label: textOf(schema, 'title') ?? name,
      description: textOf(schema, 'description'),
      required,
      nullable: types.includes('null') || (isJsonList(schema.enum) && schema.enum.includes(null)),
      default: ownField(schema, 'default'),
      schema,
      check: compileCheck(Object.keys(this.types).length === 0 ? declared : { ...declared, $defs: this.types }),
    };
    this.#left -= 1;
    if (isJsonList(schema.enum)) {
      const choices = schema.enum.includes(null) ? schema.enum.filter((choice) => choice !== null) : schema.enum;
      if (choices.length > 0) return { ...own, kind: 'choice', choices };
    }
    const [kind, ...others] = types.filter((type) => type !== 'null');
    const json: JsonField = { ...own, kind: 'json', orText: types.includes('string') };
    if (kind === undefined || others.length > 0) return json;
    if (kind === 'string') return { ...own, kind: 'text', ...textRules(schema) };
    if (kind === 'boolean') return { ...own, kind };
    if (kind === 'number' || kind === 'integer') {
      return { ...own, kind: 'number', integer: kind === 'integer', ...numberRules(schema) };
    }
    if (level >= LEVELS_MAX || this.#left <= 0) return json;
    if (kind === 'array' && isJsonObject(schema.items)) {
      const item = this.#field(name, schema.items, true, level + 1);
      return {
        ...own,
        kind: 'list',
        item,
        minItems: numberOf(schema, 'minItems') ?? 0,
        maxItems: numberOf(schema, 'maxItems'),
      };
    }
    if (kind === 'object' && schema.additionalProperties === false && isJsonObject(schema.properties)) {
      return { ...own, kind: 'group', fields: this.properties(schema, level + 1) };
    }
    return json;
  }

  #resolved(schema: JsonSchema): JsonSchema {
    const name = textOf(schema, '$ref')?.match(/^#\/\$defs\/(.+)$/)?.[1];
    const target = name === undefined ? undefined : ownField(this.types, name);
    return isJsonObject(target) ? { ...target, ...schema } : schema;
  }
}

function textRules(schema: JsonSchema) {
  return {
    format: textOf(schema, 'format'),
    long: schema['x-widget'] === 'textarea',
    minLength: numberOf(schema, 'minLength'),
    maxLength: numberOf(schema, 'maxLength'),
    pattern: textOf(schema, 'pattern'),
  };
}

function numberRules(schema: JsonSchema) {
  const above = numberOf(schema, 'exclusiveMinimum');
  const below = numberOf(schema, 'exclusiveMaximum');
  return {
    minimum: above ?? numberOf(schema, 'minimum'),
    maximum: below ?? numberOf(schema, 'maximum'),
    aboveMinimum: above !== null,
    belowMaximum: below !== null,
  };
}

function textOf(schema: JsonSchema, keyword: string): string | null {
  const value = ownField(schema, keyword);
  return typeof value === 'string' ? value : null;
}

function numberOf(schema: JsonSchema, keyword: string): number | null {
  const value = ownField(schema, keyword);
  return typeof value === 'number' ? value : null;
}

function typesOf(schema: JsonSchema): readonly JsonValue[] {
  if (typeof schema.type === 'string') return [schema.type];
  if (isJsonList(schema.type)) return schema.type;
  if (!isJsonList(schema.anyOf)) return [];
  return schema.anyOf.flatMap((branch) => (isJsonObject(branch) ? typesOf(branch) : []));
}

/** The fault of a value in one sentence; null: it fits. */
export function faultOf(field: Field, value: JsonValue): string | null {
  const checked = field.check(value);
  if (checked.ok) return null;
  const [first] = checked.findings;
  return first === undefined ? 'does not fit' : `${first.path.slice(1)} ${first.message}`.trim();
}

/** A value as people read and type it: text unchanged, anything else as JSON. */
export function shownValue(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
