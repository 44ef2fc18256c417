// The process's log: JSON, one record a line, to standard error by default. Loggers are made once in a composition and
// injected; a part of a process gets a child.
import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import { LogOutput } from './log-output.ts';
import { errorRecord, redacted } from './redaction.ts';

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
