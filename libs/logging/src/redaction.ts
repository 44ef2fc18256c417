// The last guard against content and credentials in a log: fields with a name of secret or content lose their value, at
// any depth. Callers must not log such things at all; this catches their mistakes.
import { AssertionFailed } from '@methods/base/assert';

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

// The part of an error that a log may hold. Drivers and parsers put the refused value into their message, so the
// message of an error is kept only where it is known to be free of values.
interface ErrorRecord {
  readonly type: string;
  readonly code?: string | number;
  readonly message?: string;
  /** Call sites only. */
  readonly at?: readonly string[];
  readonly cause?: ErrorRecord;
  readonly [fact: string]: unknown;
}

const CAUSES_MAX = 4;
const CALL_SITES_MAX = 8;

// Names of objects of ours in the database, never values.
const SAFE_FACTS = ['constraint_name', 'table_name', 'schema_name', 'routine', 'syscall', 'severity'] as const;

export function errorRecord(error: unknown, depth = 0): ErrorRecord {
  if (!(error instanceof Error)) return { type: typeof error };
  const fields = error as Error & Record<string, unknown>;
  const code = fields.code;
  return {
    type: error.name,
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(hasSafeMessage(fields) ? { message: error.message } : {}),
    ...Object.fromEntries(
      SAFE_FACTS.filter((name) => typeof fields[name] === 'string').map((name) => [name, fields[name]]),
    ),
    at: callSites(error),
    ...(error.cause !== undefined && depth < CAUSES_MAX ? { cause: errorRecord(error.cause, depth + 1) } : {}),
  };
}

// Ours are written without values; the engine's own TypeError and ReferenceError name properties only, but those with
// a code (ERR_INVALID_ARG_TYPE) quote what they were given. A failed system call names addresses and files.
function hasSafeMessage(error: Error & Record<string, unknown>): boolean {
  if (error instanceof AssertionFailed || error.name === 'ServiceError' || error.name === 'ConfigError') return true;
  if (typeof error.syscall === 'string') return true;
  return (error instanceof TypeError || error instanceof ReferenceError) && error.code === undefined;
}

function callSites(error: Error): string[] {
  const lines = (error.stack ?? '').split('\n').filter((line) => /^\s+at .*:\d+:\d+\)?$/.test(line));
  return lines.slice(0, CALL_SITES_MAX).map((line) => line.trim().slice(3));
}
