// The process's log: JSON, one record a line, to standard error by default. Loggers are made once in a composition and
// injected; a part of a process gets a child.

import { AssertionFailed } from '@methods/base/assert';
import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import { LogOutput } from './log-output.ts';

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

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Values of a record: ids, codes, counts and times. `error` takes an Error and is written without values. */
export type LogFields = Readonly<Record<string, unknown>>;

export interface Logger {
  debug(fields: LogFields, message: string): void;
  /** A change of state. */
  info(fields: LogFields, message: string): void;
  /** Something that heals by itself. */
  warn(fields: LogFields, message: string): void;
  /** Something a person must look at. */
  error(fields: LogFields, message: string): void;
  /** A logger whose records all carry these fields too. */
  child(fields: LogFields): Logger;
}

export interface LoggerOptions {
  /** The process or part, as `name` in each record. */
  readonly name: string;
  readonly level?: LogLevel;
  /** Takes the lines; default: standard error. */
  readonly destination?: DestinationStream;
}

export function createLogger({ name, level = 'info', destination = new LogOutput() }: LoggerOptions): Logger {
  const root = pino(
    {
      name,
      level,
      base: { pid: process.pid },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }), log: redacted },
      serializers: { error: errorRecord, err: errorRecord },
    },
    destination,
  );
  if (destination instanceof LogOutput) {
    destination.onDropped = (lines) =>
      root.warn({ lines }, 'lines of this log were dropped: nothing read them in time');
  }
  return redactingChildren(root);
}

// pino runs no formatter over a child's fields, so they are redacted where the child is made.
function redactingChildren(inner: PinoLogger): Logger {
  return {
    debug: (fields, message) => inner.debug(fields, message),
    info: (fields, message) => inner.info(fields, message),
    warn: (fields, message) => inner.warn(fields, message),
    error: (fields, message) => inner.error(fields, message),
    child: (fields) => redactingChildren(inner.child(redacted(fields))),
  };
}

/** Drops everything; for tests and for parts that were given no logger. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger,
};

/**
 * The last guard against content and credentials in a log: fields with a name of secret or content lose their value, at
 * any depth. Callers must not log such things at all; this catches their mistakes. Returns a copy with such values
 * replaced, or the fields themselves if there is nothing to replace. Errors become records wherever they are, since a driver hangs queries and values on them; those in
 * `ERROR_FIELDS` are left to the logger.
 */
export function redacted(fields: Record<string, unknown>): Record<string, unknown> {
  if (isPlain(fields)) return fields;
  const copy = redactedAt(fields, 0) as Record<string, unknown>;
  for (const name of ERROR_FIELDS) if (name in fields) copy[name] = fields[name];
  return copy;
}

/** Reports whether nothing in the record is nested or redacted, as in most of them. */
function isPlain(fields: Record<string, unknown>): boolean {
  if (fields instanceof Error) return false;
  for (const name in fields) {
    const value = fields[name];
    if ((typeof value === 'object' && value !== null) || typeof value === 'function' || isTelling(name)) return false;
  }
  return true;
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
  if (NAMES.has(name)) return true;
  for (const ending of ENDINGS) if (name.endsWith(ending)) return true;
  return false;
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
