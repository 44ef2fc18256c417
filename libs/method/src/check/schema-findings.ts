// Owns the turn of validator errors into findings a person can act on. Values never appear in a message: they are content.
import type { ErrorObject } from 'ajv/dist/2020.js';
import { nearest } from '../structure/did-you-mean.ts';

/** One way a value misses its schema. `path` is a JSON Pointer (RFC 6901); `code` is the rule's name, such as `required`. */
export interface ValueFinding {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

const FINDINGS_MAX = 20;

/** At most 20 findings in the order of the errors, one for each place and rule. */
export function findingsOf(errors: readonly ErrorObject[]): ValueFinding[] {
  const findings = new Map<string, ValueFinding>();
  for (const error of withoutBranchNoise(errors)) {
    if (findings.size >= FINDINGS_MAX) break;
    const finding = findingOf(error);
    findings.set(`${finding.path}\n${finding.code}`, finding);
  }
  return [...findings.values()];
}

/**
 * A union reports every branch it is not. When something deeper is wrong, the branch the author meant is clear and only that
 * counts; otherwise the kinds are named once, together.
 */
function withoutBranchNoise(errors: readonly ErrorObject[]): ErrorObject[] {
  const unions = new Set(errors.filter((error) => error.keyword === 'anyOf').map((error) => error.instancePath));
  if (unions.size === 0) return [...errors];
  const isKind = (error: ErrorObject) => error.keyword === 'type' || error.keyword === 'anyOf';
  const clear = new Set<string>();
  for (const error of errors) {
    if (!isKind(error)) clear.add(error.instancePath);
    // What is wrong inside a value also makes clear which branch each of its parents is.
    for (let at = error.instancePath.lastIndexOf('/'); at > 0; at = error.instancePath.lastIndexOf('/', at - 1)) {
      clear.add(error.instancePath.slice(0, at));
    }
  }
  const kept: ErrorObject[] = [];
  for (const error of errors) {
    if (!unions.has(error.instancePath) || !isKind(error)) kept.push(error);
    else if (!clear.has(error.instancePath) && error.keyword === 'anyOf') {
      const types = errors
        .filter((other) => other.keyword === 'type' && other.instancePath === error.instancePath)
        .flatMap((other) => (other.params as { type: string | string[] }).type);
      kept.push({ ...error, keyword: 'type', params: { type: [...new Set(types)] } });
    }
  }
  return kept;
}

function findingOf(error: ErrorObject): ValueFinding {
  const params = error.params as Readonly<Record<string, unknown>>;
  const code = CODES.get(error.keyword) ?? error.keyword;
  switch (error.keyword) {
    case 'required':
      return { path: pointer(error.instancePath, String(params.missingProperty)), code, message: 'is required' };
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const name = String(params.additionalProperty ?? params.unevaluatedProperty);
      const near = nearest(name, propertyNames(error));
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

/** The declared names beside the keyword that failed. */
function propertyNames(error: ErrorObject): string[] {
  const properties: unknown = error.parentSchema?.properties;
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
}
