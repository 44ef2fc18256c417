// The last guard against content and credentials in a log: fields with a name of secret or content lose their value, at
// any depth. Callers must not log such things at all; this catches their mistakes.
import { errorRecord } from './error-record.ts';

const REDACTED = '[redacted]';
const DEPTH_MAX = 6;

const NAMES: ReadonlySet<string> = new Set([
  'inputs',
  'answer',
  'result',
  'out',
  'prompt',
  'content',
  'body',
  'source',
  'authorization',
  'cookie',
  'set-cookie',
  'password',
  'secret',
  'token',
  'key',
  'webhook_secret',
  'access_token',
]);
const ENDINGS = ['_json', 'Json', '_secret', 'Secret'];

/** The fields that the logger itself turns into error records, for any thrown value. */
const ERROR_FIELDS = ['error', 'err'] as const;

/**
 * A copy of the fields with such values replaced. Errors become records wherever they are, since a driver hangs queries
 * and values on them; those in `ERROR_FIELDS` are left to the logger.
 */
export function redacted(fields: Record<string, unknown>): Record<string, unknown> {
  const copy = redactedAt(fields, 0) as Record<string, unknown>;
  for (const name of ERROR_FIELDS) if (name in fields) copy[name] = fields[name];
  return copy;
}

function redactedAt(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Error) return errorRecord(value);
  if ('toJSON' in value) return value;
  if (depth >= DEPTH_MAX) return REDACTED;
  if (Array.isArray(value)) return value.map((item) => redactedAt(item, depth + 1));
  const copy: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(value)) {
    copy[name] = isTelling(name) && inner !== undefined ? REDACTED : redactedAt(inner, depth + 1);
  }
  return copy;
}

function isTelling(name: string): boolean {
  return NAMES.has(name) || ENDINGS.some((ending) => name.endsWith(ending));
}
