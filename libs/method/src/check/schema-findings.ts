// Owns the turn of validator errors into findings a person can act on. Values never appear in a message: they are content.
import type { ErrorObject } from 'ajv/dist/2020.js';
import { isJsonList, isJsonObject, type JsonSchema, type JsonValue, ownField } from '../json.ts';
import { nearest } from '../structure/did-you-mean.ts';

/** One way a value misses its schema. `path` is a JSON Pointer (RFC 6901); `code` is the rule's name, such as `required`. */
export interface ValueFinding {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

const FINDINGS_MAX = 20;

/** At most 20 findings in the order of the errors, one for each place and rule. */
export function findingsOf(errors: readonly ErrorObject[], schema: JsonSchema): ValueFinding[] {
  const findings = new Map<string, ValueFinding>();
  for (const error of errors) {
    if (findings.size >= FINDINGS_MAX) break;
    const finding = findingOf(error, schema);
    findings.set(`${finding.path}\n${finding.code}`, finding);
  }
  return [...findings.values()];
}

function findingOf(error: ErrorObject, schema: JsonSchema): ValueFinding {
  const params = error.params as Readonly<Record<string, unknown>>;
  const code = CODES.get(error.keyword) ?? error.keyword;
  switch (error.keyword) {
    case 'required':
      return { path: pointer(error.instancePath, String(params.missingProperty)), code, message: 'is required' };
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const name = String(params.additionalProperty ?? params.unevaluatedProperty);
      const near = nearest(name, propertyNames(schema, error.schemaPath));
      const message = near === undefined ? 'is not a known field' : `is not a known field; did you mean "${near}"?`;
      return { path: pointer(error.instancePath, name), code, message };
    }
    case 'type': {
      const wanted: unknown[] = Array.isArray(params.type) ? params.type : [params.type];
      return {
        path: error.instancePath,
        code,
        message: `must be ${wanted.map((t) => TYPE_WORDS.get(String(t)) ?? t).join(' or ')}`,
      };
    }
    case 'enum':
      return { path: error.instancePath, code, message: `must be one of ${listed(params.allowedValues)}` };
    case 'pattern':
      return { path: error.instancePath, code, message: `must match /${String(params.pattern)}/` };
    case 'format':
      return {
        path: error.instancePath,
        code,
        message: `must be ${FORMAT_WORDS.get(String(params.format)) ?? params.format}`,
      };
    default:
      return { path: error.instancePath, code, message: error.message ?? 'does not fit' };
  }
}

const CODES: ReadonlyMap<string, string> = new Map([
  ['additionalProperties', 'unknown_field'],
  ['unevaluatedProperties', 'unknown_field'],
  ['enum', 'not_a_choice'],
  ['minLength', 'too_short'],
  ['maxLength', 'too_long'],
  ['minItems', 'too_few'],
  ['maxItems', 'too_many'],
  ['minProperties', 'too_few'],
  ['maxProperties', 'too_many'],
  ['minimum', 'too_small'],
  ['exclusiveMinimum', 'too_small'],
  ['maximum', 'too_large'],
  ['exclusiveMaximum', 'too_large'],
  ['anyOf', 'type'],
  ['uniqueItems', 'repeated'],
]);

const TYPE_WORDS: ReadonlyMap<string, string> = new Map([
  ['string', 'text'],
  ['number', 'a number'],
  ['integer', 'a whole number'],
  ['boolean', 'true or false'],
  ['array', 'a list'],
  ['object', 'an object'],
  ['null', 'null'],
]);

const FORMAT_WORDS: ReadonlyMap<string, string> = new Map([
  ['date', 'a date such as 2026-01-31'],
  ['date-time', 'a date and time such as 2026-01-31T12:00:00Z'],
  ['time', 'a time such as 12:00:00Z'],
  ['email', 'an e-mail address'],
  ['uri', 'a URL'],
  ['uuid', 'a UUID'],
]);

function pointer(parent: string, name: string): string {
  return `${parent}/${name.slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function listed(values: unknown): string {
  if (!Array.isArray(values)) return 'the choices';
  const shown = values.slice(0, 20).map((value) => JSON.stringify(value));
  return `${shown.join(', ')}${values.length > 20 ? ', …' : ''}`;
}

/** The declared names beside the keyword that `schemaPath` (a URI fragment pointer) names. */
function propertyNames(root: JsonSchema, schemaPath: string): string[] {
  let current: JsonValue | undefined = root;
  for (const part of schemaPath.split('/').slice(1, -1)) {
    const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (isJsonObject(current)) current = ownField(current, name);
    else current = isJsonList(current) ? current[Number(name)] : undefined;
  }
  const properties = isJsonObject(current) ? ownField(current, 'properties') : undefined;
  return isJsonObject(properties) ? Object.keys(properties) : [];
}
