// One field of a question's form: its description, and how a typed line becomes its value.
import { compileCheck } from '@methods/method/check-value';
import { isJsonList, isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from '@methods/method/json';

export interface FormField {
  readonly name: string;
  /** With `$ref` to the form's own types resolved one level. */
  readonly schema: JsonSchema;
  readonly required: boolean;
  readonly check: ReturnType<typeof compileCheck>;
  /** The form's own types, by name. */
  readonly types: JsonObject;
}

/** The fields of a form in its order. */
export function formFields(form: JsonSchema): FormField[] {
  const properties = isJsonObject(form.properties) ? form.properties : {};
  const required = isJsonList(form.required) ? form.required : [];
  const types: JsonObject = isJsonObject(form.$defs) ? form.$defs : {};
  return Object.entries(properties).map(([name, schema]) => {
    return fieldOf(name, isJsonObject(schema) ? schema : {}, types, required.includes(name));
  });
}

function fieldOf(name: string, declared: JsonObject, types: JsonObject, required: boolean): FormField {
  const check = compileCheck(Object.keys(types).length === 0 ? declared : { ...declared, $defs: types });
  return { name, schema: resolved(declared, types), required, check, types };
}

function resolved(schema: JsonSchema, types: JsonObject): JsonSchema {
  const name = typeof schema.$ref === 'string' ? /^#\/\$defs\/(.+)$/.exec(schema.$ref)?.[1] : undefined;
  const target = name === undefined ? undefined : types[name];
  return isJsonObject(target) ? { ...target, ...schema } : schema;
}

/** The fixed values to choose from, or null. */
function choicesOf({ schema }: FormField): readonly JsonValue[] | null {
  return isJsonList(schema.enum) ? schema.enum : null;
}

/** The fixed values as they are typed; empty without any. */
export function choiceWords(field: FormField): readonly string[] {
  return choicesOf(field)?.map(scalarWords) ?? [];
}

/** The field of one item of a list; null: the field is no list, or one with items of several kinds. */
export function itemField(field: FormField): FormField | null {
  const { schema, types } = field;
  if (!typesOf(schema).includes('array') || !isJsonObject(schema.items)) return null;
  return fieldOf(field.name, schema.items, types, true);
}

/** The fault of a value in one sentence, or null. */
export function faultOf(field: FormField, value: JsonValue): string | null {
  const checked = field.check(value);
  if (checked.ok) return null;
  const [first] = checked.findings;
  return first === undefined ? 'does not fit' : `${first.path.slice(1)} ${first.message}`.trim();
}

/** True for a field that may take several lines. */
export function isLongText({ schema }: FormField): boolean {
  return schema['x-widget'] === 'textarea';
}

/** The input a prompt accepts, in a few words. */
export function promptWords(field: FormField): string {
  const { schema, required } = field;
  const words = choicesOf(field)
    ?.map((choice, index) => `${index + 1} ${scalarWords(choice)}`)
    .join(', ');
  if (schema.default !== undefined) return `${words ?? kindWords(field)}; Enter for ${JSON.stringify(schema.default)}`;
  return `${words ?? kindWords(field)}${required ? '' : '; Enter leaves it out'}`;
}

/** The values the field accepts, in a few words. */
export function fieldWords(field: FormField): string {
  const { schema, required } = field;
  const words = choicesOf(field)?.map(scalarWords).join(' or ') ?? kindWords(field);
  if (schema.default !== undefined) return `${words}; ${JSON.stringify(schema.default)} unless given`;
  return required ? words : `${words}; optional`;
}

function kindWords({ schema }: FormField): string {
  const kind = typesOf(schema).filter((type) => type !== 'null')[0];
  if (kind === 'boolean') return 'yes or no';
  if (kind === 'integer') return 'a whole number';
  if (kind === 'number') return 'a number';
  if (kind === 'string') return typeof schema.format === 'string' ? schema.format : 'text';
  if (kind === 'array') return isJsonObject(schema.items) ? 'a list, an item a line' : 'a list as JSON';
  return 'JSON';
}

/**
 * The value of a typed line; undefined: the field is left out. The field's check decides whether it fits, so a line
 * that cannot be read as the wanted kind is returned as text.
 */
export function valueOfLine(field: FormField, line: string): JsonValue | undefined {
  const { schema } = field;
  const text = line.trim();
  const types = typesOf(schema);
  if (text === '') {
    if (schema.default !== undefined || !field.required) return undefined;
    if (types.includes('null')) return null;
    return types.includes('array') ? [] : '';
  }
  const choices = choicesOf(field);
  if (choices !== null) return chosen(choices, text);
  if (types.includes('string')) return line;
  if (types.includes('boolean')) {
    if (/^(y|yes|true)$/i.test(text)) return true;
    if (/^(n|no|false)$/i.test(text)) return false;
  }
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return line;
  }
}

/** The choice itself wins over its number: choices may be numbers. */
function chosen(choices: readonly JsonValue[], text: string): JsonValue {
  const named = choices.find((choice) => scalarWords(choice).toLowerCase() === text.toLowerCase());
  if (named !== undefined) return named;
  return (/^\d+$/.test(text) ? choices[Number(text) - 1] : undefined) ?? text;
}

function scalarWords(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function typesOf(schema: JsonSchema): readonly JsonValue[] {
  if (typeof schema.type === 'string') return [schema.type];
  if (isJsonList(schema.type)) return schema.type;
  if (!isJsonList(schema.anyOf)) return [];
  return schema.anyOf.flatMap((branch) => (isJsonObject(branch) ? typesOf(branch) : []));
}
