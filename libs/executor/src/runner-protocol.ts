// The messages between a worker and its runners: JSON lines over file descriptor 3. A runner is in the hands of the
// author's code, so nothing of what it says is trusted to have a form.
import { isJsonObject, type JsonObject, type JsonValue, ownField } from '@methods/method/json';
import type { ErrorKind } from './step-failure.ts';

/** Worker to runner: a step's code, once before its first use. */
export interface CodeMessage {
  readonly t: 'code';
  readonly step: string;
  readonly code: string;
  /** 1-based source line of the code's first line. */
  readonly line: number;
  readonly names: readonly string[];
}

/** Worker to runner: run the step with these values, in the order of the code's names. */
export interface StepMessage {
  readonly t: 'step';
  readonly n: number;
  readonly step: string;
  readonly key: string;
  readonly values: readonly JsonValue[];
}

export type RunnerMessage =
  | { readonly t: 'log'; readonly text: string }
  | ({ readonly t: 'check'; readonly name: string; readonly ok: boolean; readonly level: 'error' | 'warn' } & {
      readonly message: string | null;
      readonly actual: JsonValue;
    })
  | EndMessage;

export interface EndMessage {
  readonly t: 'end';
  /** Running time inside the runner. */
  readonly ms: number;
  /** The out names files in the working folder. */
  readonly files: boolean;
  /** Why the runner must not run another step. */
  readonly replace: string | null;
  readonly error: RunnerError | null;
  /** Undefined: nothing was returned. */
  readonly out: JsonValue | undefined;
}

export interface RunnerError {
  readonly kind: ErrorKind;
  readonly message: string;
  readonly line?: number;
  readonly stack?: string;
}

/** Null for a line that is not of this protocol, or of another step than `n` (a step's late words). */
export function readRunnerMessage(line: string, n: number): RunnerMessage | null {
  let message: JsonValue;
  try {
    message = JSON.parse(line) as JsonValue;
  } catch {
    return null;
  }
  if (!isJsonObject(message) || message.n !== n) return null;
  switch (message.t) {
    case 'end':
      return endOf(message);
    case 'check':
      return {
        t: 'check',
        name: textIn(message, 'name') ?? '',
        ok: message.ok === true,
        level: message.level === 'warn' ? 'warn' : 'error',
        message: textIn(message, 'message'),
        actual: ownField(message, 'actual') ?? null,
      };
    case 'log':
      return { t: 'log', text: logLine(textIn(message, 'message') ?? '', ownField(message, 'data')) };
    case 'progress':
      return { t: 'log', text: progressLine(message.at, textIn(message, 'message')) };
    default:
      return null;
  }
}

function endOf(message: JsonObject): EndMessage {
  return {
    t: 'end',
    ms: typeof message.ms === 'number' ? message.ms : 0,
    files: message.files === true,
    replace: textIn(message, 'replace'),
    error: isJsonObject(message.error) ? errorOf(message.error) : null,
    out: ownField(message, 'out'),
  };
}

const RUNNER_ERROR_KINDS: readonly ErrorKind[] = ['exception', 'syntax', 'out', 'limit'];

function errorOf(error: JsonObject): RunnerError {
  const stack = textIn(error, 'stack');
  return {
    kind: RUNNER_ERROR_KINDS.find((kind) => kind === error.kind) ?? 'exception',
    message: textIn(error, 'message') ?? '',
    ...(typeof error.line === 'number' ? { line: error.line } : {}),
    ...(stack === null ? {} : { stack }),
  };
}

function logLine(message: string, data: JsonValue | undefined): string {
  return data === undefined ? `${message}\n` : `${message} ${JSON.stringify(data)}\n`;
}

function progressLine(at: JsonValue | undefined, message: string | null): string {
  const share = typeof at === 'number' ? `${Math.round(at * 100)} %` : '';
  return `progress ${share}${message === null ? '' : ` ${message}`}\n`;
}

function textIn(message: JsonObject, name: string): string | null {
  const value = ownField(message, name);
  return typeof value === 'string' ? value : null;
}
