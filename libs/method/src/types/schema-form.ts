// Owns what a valid JSON Schema 2020-12 is: the meta-schema as rules that a walk applies, without generated code, which
// the pages' Content-Security-Policy forbids. Order and words are those of Ajv; the test compares with it.
import { isJsonList, isJsonObject, type JsonSchema, type JsonValue, ownField } from '../json.ts';

/** What is wrong with the value at the JSON Pointer `path`, or undefined. */
type FormRule = (value: JsonValue, path: string) => string | undefined;

/** Why a schema whose references are written out is not valid, or undefined. */
export function problemOfSchema(schema: JsonSchema): string | undefined {
  return schemaRule(schema as JsonValue, '');
}

const TYPES: readonly JsonValue[] = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

const anything: FormRule = () => undefined;
const text = kind('string', (value) => typeof value === 'string');
const flag = kind('boolean', (value) => typeof value === 'boolean');
const number = kind('number', (value) => typeof value === 'number');
const factor = both(number, (value, path) => (Number(value) > 0 ? undefined : problem(path, 'must be > 0')));
const count = both(kind('integer', Number.isInteger), (value, path) =>
  Number(value) >= 0 ? undefined : problem(path, 'must be >= 0'),
);
const textList = listOf(text, distinctTexts);
const schemaList = listOf(schemaRule, (list, path) =>
  list.length > 0 ? undefined : problem(path, 'must NOT have fewer than 1 items'),
);
const schemaMap = mapOf(schemaRule);

/** By keyword. Ajv reports the first problem it finds, so the order matters. */
const KEYWORDS: ReadonlyMap<string, FormRule> = new Map([
  ...rules(text, '$comment'),
  ...rules(schemaList, 'prefixItems'),
  ...rules(schemaRule, 'items contains additionalProperties'),
  ...rules(schemaMap, 'properties patternProperties dependentSchemas'),
  ...rules(schemaRule, 'propertyNames if then else'),
  ...rules(schemaList, 'allOf anyOf oneOf'),
  ...rules(schemaRule, 'not unevaluatedItems unevaluatedProperties'),
  ...rules(typeNames, 'type'),
  ...rules(listOf(anything), 'enum'),
  ...rules(factor, 'multipleOf'),
  ...rules(number, 'maximum exclusiveMaximum minimum exclusiveMinimum'),
  ...rules(count, 'maxLength minLength'),
  ...rules(text, 'pattern'),
  ...rules(count, 'maxItems minItems'),
  ...rules(flag, 'uniqueItems'),
  ...rules(count, 'maxContains minContains maxProperties minProperties'),
  ...rules(textList, 'required'),
  ...rules(mapOf(textList), 'dependentRequired'),
  ...rules(text, 'title description'),
  ...rules(flag, 'deprecated readOnly writeOnly'),
  ...rules(listOf(anything), 'examples'),
  ...rules(text, 'format contentEncoding contentMediaType'),
  ...rules(schemaRule, 'contentSchema'),
  ...rules(mapOf(schemaOrTexts), 'dependencies'),
]);

function schemaRule(value: JsonValue, path: string): string | undefined {
  if (typeof value === 'boolean') return undefined;
  if (!isJsonObject(value)) return problem(path, 'must be object,boolean');
  for (const [keyword, rule] of KEYWORDS) {
    const given = ownField(value, keyword);
    const found = given === undefined ? undefined : rule(given, `${path}/${keyword}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function typeNames(value: JsonValue, path: string): string | undefined {
  const names = isJsonList(value) ? value : [value];
  const isValid =
    names.length > 0 && names.every((name) => TYPES.includes(name)) && new Set(names).size === names.length;
  return isValid ? undefined : problem(path, 'must be equal to one of the allowed values');
}

function schemaOrTexts(value: JsonValue, path: string): string | undefined {
  return textList(value, path) === undefined ? undefined : schemaRule(value, path);
}

/** Reports the last pair, whose second place is the nearest. */
function distinctTexts(list: readonly JsonValue[], path: string): string | undefined {
  const places = new Map<JsonValue, number>();
  for (const [at, item] of [...list.entries()].reverse()) {
    const same = places.get(item);
    if (same !== undefined)
      return problem(path, `must NOT have duplicate items (items ## ${same} and ${at} are identical)`);
    places.set(item, at);
  }
  return undefined;
}

function rules(rule: FormRule, keywords: string): (readonly [string, FormRule])[] {
  return keywords.split(' ').map((keyword) => [keyword, rule] as const);
}

function kind(name: string, fits: (value: JsonValue) => boolean): FormRule {
  return (value, path) => (fits(value) ? undefined : problem(path, `must be ${name}`));
}

function both(first: FormRule, second: FormRule): FormRule {
  return (value, path) => first(value, path) ?? second(value, path);
}

function listOf(
  item: FormRule,
  whole: (list: readonly JsonValue[], path: string) => string | undefined = () => undefined,
): FormRule {
  return (value, path) => {
    if (!isJsonList(value)) return problem(path, 'must be array');
    return firstOf(Object.entries(value), item, path) ?? whole(value, path);
  };
}

function mapOf(field: FormRule): FormRule {
  return (value, path) =>
    isJsonObject(value) ? firstOf(Object.entries(value), field, path) : problem(path, 'must be object');
}

function firstOf(parts: readonly (readonly [string, JsonValue])[], rule: FormRule, path: string): string | undefined {
  for (const [name, part] of parts) {
    const found = rule(part, `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function problem(path: string, words: string): string {
  return `${path || 'it'} ${words}`;
}
