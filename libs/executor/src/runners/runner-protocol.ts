// The messages between a worker and its runners: JSON lines over file descriptor 3. A runner is controlled by the
// author's code, so the form of every message is checked.
import { isJsonObject, type JsonObject, type JsonValue, nestsDeeperThan, ownField } from '@methods/method/json';
import type { StepEvent } from '../step-event.ts';
import type { ErrorKind } from '../step-failure.ts';

/** Worker to runner: a step's code, sent once before its first use. */
export interface CodeMessage {
  readonly t: 'code';
  readonly step: string;
  readonly code: string;
  /** 1-based source line of the code's first line. */
  readonly line: number;
  readonly names: readonly string[];
}

/** Worker to runner: the version's `lib`, sent once before any code. */
export interface LibMessage {
  readonly t: 'lib';
  readonly code: string;
  readonly line: number;
}

/** Worker to runner: run the step with these values, in the order of the code's names. */
export interface StepMessage {
  readonly t: 'step';
  readonly n: number;
  readonly step: string;
  readonly key: string;
  readonly try: number;
  readonly values: readonly JsonValue[];
  /** The same values as a file, for code that reads it. */
  readonly in?: string;
  /** The code sees nothing of other steps in the process except globals. */
  readonly contained?: true;
  /** It begins only with its ticket. */
  readonly queued?: true;
}

/** Worker to runner: the step whose end it waits behind is over, and another may begin. */
export interface ContinueMessage {
  readonly t: 'continue';
}

/** Worker to runner: the code of a plain step, sent once before its first plain run. */
export interface PlainCodeMessage {
  readonly t: 'plain code';
  readonly step: string;
  readonly code: string;
  readonly names: readonly string[];
}

/** Worker to runner: run the plain step with these values. The runner recognizes the line by its first characters. */
export interface PlainStepMessage {
  readonly t: 'plain';
  readonly n: number;
  readonly step: string;
  readonly values: readonly JsonValue[];
}

export type RunnerMessage =
  | StepEvent
  | EndMessage
  /** From contained code, which prints by messages. */
  | { readonly t: 'print'; readonly from: 'stdout' | 'stderr'; readonly chunk: Buffer }
  /** From a plain step: it has no end here and must run as any other step. */
  | { readonly t: 'again' }
  /** From a shell: a part of the out. */
  | { readonly t: 'out'; readonly value: JsonObject }
  /** From a shell: a command failed in this line of the source. */
  | { readonly t: 'line'; readonly line: number }
  /** From a shell: `step fail`. */
  | { readonly t: 'error'; readonly error: RunnerError };

export interface EndMessage {
  readonly t: 'end';
  /** Running time inside the runner. */
  readonly ms: number;
  /** Of that, what it wanted a processor for. */
  readonly wantedMs: number;
  /** The out names files in the working folder. */
  readonly files: boolean;
  /** A mark on each output follows what the step has printed. */
  readonly marked: boolean;
  /** The runner begins nothing before it gets a `ContinueMessage`. */
  readonly held: boolean;
  /** The step started a process, which may have left the runner's group. */
  readonly spawned: boolean;
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
  /** Exit code of kind exit. */
  readonly code?: number;
  readonly retry?: boolean;
}

/**
 * Null for a line that is not part of this protocol, or belongs to a step other than `n` (late messages of a step).
 * Messages of a shell have no `n`.
 */
export function readRunnerMessage(line: string, n: number | undefined): RunnerMessage | null {
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
    case 'again':
      return { t: 'again' };
    case 'print':
      return printOf(message);
    case 'check':
      return {
        t: 'check',
        name: textIn(message, 'name') ?? '',
        ok: message.ok === true,
        level: message.level === 'warn' ? 'warn' : 'error',
        message: textIn(message, 'message'),
        actual: shownIn(message, 'actual') ?? null,
      };
    case 'log':
      return { t: 'log', message: textIn(message, 'message') ?? '', data: shownIn(message, 'data') };
    case 'progress':
      return { t: 'progress', at: shareIn(message), message: textIn(message, 'message') };
    case 'out': {
      const value = ownField(message, 'value');
      return value !== undefined && isJsonObject(value) ? { t: 'out', value } : null;
    }
    case 'line':
      return typeof message.line === 'number' ? { t: 'line', line: message.line } : null;
    case 'error':
      return { t: 'error', error: errorOf(message) };
    default:
      return null;
  }
}

function endOf(message: JsonObject): EndMessage {
  return {
    t: 'end',
    ms: numberIn(message, 'ms'),
    wantedMs: numberIn(message, 'wanted'),
    files: message.files === true,
    marked: message.marked === true,
    held: message.held === true,
    spawned: message.spawned === true,
    replace: textIn(message, 'replace'),
    error: isJsonObject(message.error) ? errorOf(message.error) : null,
    out: ownField(message, 'out'),
  };
}

function printOf(message: JsonObject): RunnerMessage {
  const base64 = textIn(message, 'base64');
  const chunk = base64 === null ? Buffer.from(textIn(message, 'text') ?? '') : Buffer.from(base64, 'base64');
  return { t: 'print', from: message.from === 'stderr' ? 'stderr' : 'stdout', chunk };
}

const RUNNER_ERROR_KINDS: readonly ErrorKind[] = ['exception', 'syntax', 'out', 'limit', 'exit', 'memory'];

function errorOf(error: JsonObject): RunnerError {
  const stack = textIn(error, 'stack');
  return {
    kind: RUNNER_ERROR_KINDS.find((kind) => kind === error.kind) ?? 'exception',
    message: textIn(error, 'message') ?? '',
    ...(typeof error.line === 'number' ? { line: error.line } : {}),
    ...(stack === null ? {} : { stack }),
    ...(typeof error.code === 'number' ? { code: error.code } : {}),
    ...(typeof error.retry === 'boolean' ? { retry: error.retry } : {}),
  };
}

/** As deep as an out may be. */
const LEVELS_MAX = 100;

/** A value that only people read. Masking and encoding a deeper one would overflow the stack. */
function shownIn(message: JsonObject, name: string): JsonValue | undefined {
  const value = ownField(message, name);
  const isTooDeep = value !== undefined && nestsDeeperThan(value, LEVELS_MAX);
  return isTooDeep ? `(nests deeper than ${LEVELS_MAX} levels)` : value;
}

/** Clamps a value to 0 to 1. */
function shareIn({ at }: JsonObject): number | null {
  return typeof at === 'number' ? Math.min(1, Math.max(0, at)) : null;
}

function numberIn(message: JsonObject, name: string): number {
  const value = message[name];
  return typeof value === 'number' ? value : 0;
}

function textIn(message: JsonObject, name: string): string | null {
  const value = ownField(message, name);
  return typeof value === 'string' ? value : null;
}
