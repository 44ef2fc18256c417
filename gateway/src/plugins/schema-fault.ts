// Converts a finding of the schema check to a sentence that names the field.
import type { Finding } from '@methods/errors/service-error';
import { nearest } from '@methods/method/source/did-you-mean';
import type { FastifySchemaValidationError } from 'fastify';

/** As the checker reports it with `verbose`; the refused value itself is never used. */
export interface SchemaFault extends FastifySchemaValidationError {
  readonly parentSchema?: { readonly properties?: object };
  /** Set if the fault is in a member's name, not in its value. */
  readonly propertyName?: string;
}

const KINDS: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'a list',
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
};
const NAME_CHARACTERS_MAX = 100;

/** `part` is body, querystring, params or headers. */
export function schemaFinding(fault: SchemaFault, part: string): Finding {
  const { keyword, params, instancePath } = fault;
  const names = instancePath.split('/').slice(1).map(unescaped);
  const field = names.at(-1) === undefined ? `The ${part === 'querystring' ? 'query' : part}` : quoted(names.join('.'));
  const limit = limitName(names, fault.propertyName !== undefined);
  switch (keyword) {
    case 'additionalProperties':
      return unknownField(fault, String(params.additionalProperty));
    case 'required': {
      const missing = String(params.missingProperty);
      return finding(`${instancePath}/${missing}`, 'required', `${quoted(missing)} is missing.`);
    }
    case 'type':
      return finding(instancePath, 'type', `${field} has to be ${KINDS[String(params.type)] ?? 'of another type'}.`);
    case 'enum':
      return finding(
        instancePath,
        'enum',
        `${field} has to be one of ${(params.allowedValues as string[]).join(', ')}.`,
      );
    case 'minLength':
    case 'maxLength': {
      const what = fault.propertyName === undefined ? field : `A name in ${field}`;
      return finding(instancePath, `${limit}_length`, `${what} has ${bound(keyword, params.limit)} characters.`);
    }
    case 'maxProperties':
      return finding(instancePath, `${limit}_pairs`, `${field} has ${bound(keyword, params.limit)} entries.`);
    case 'minItems':
    case 'maxItems':
      return finding(instancePath, `${limit}_items`, `${field} has ${bound(keyword, params.limit)} entries.`);
    case 'minimum':
    case 'maximum':
      return finding(instancePath, limit, `${field} is ${bound(keyword, params.limit)}.`);
    default:
      return finding(instancePath, keyword.toLowerCase(), `${field} is not valid.`);
  }
}

function unknownField({ instancePath, parentSchema }: SchemaFault, name: string): Finding {
  const meant = nearest(name, Object.keys(parentSchema?.properties ?? {}));
  const hint = meant === undefined ? '' : ` Did you mean ${quoted(meant)}?`;
  return finding(`${instancePath}/${escaped(name)}`, 'unknown_field', `There is no field ${quoted(name)}.${hint}`);
}

// Returns the limit's own name: `idempotency_key_length`, `metadata_value_length`, `wait_ms`.
function limitName(names: readonly string[], inName: boolean): string {
  const field = names[0] ?? 'value';
  if (inName) return `${field}_key`;
  return names.length > 1 ? `${field}_value` : field;
}

function bound(keyword: string, limit: unknown): string {
  return `${keyword.startsWith('min') ? 'at least' : 'at most'} ${String(limit)}`;
}

function finding(path: string, code: string, message: string): Finding {
  return { path, code, message };
}

function quoted(name: string): string {
  return `"${name.slice(0, NAME_CHARACTERS_MAX).replaceAll(/[\p{Cc}"]/gu, '\uFFFD')}"`;
}

function escaped(name: string): string {
  return name.slice(0, NAME_CHARACTERS_MAX).replaceAll('~', '~0').replaceAll('/', '~1');
}

function unescaped(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}
