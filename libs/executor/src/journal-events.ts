// Observes the walk of a run: for live views, and as the events of a `journal.ndjson`, a line of JSON each.
import type { RunId } from '@methods/base/ids';
import type { StepKind } from '@methods/method/compiled-method';
import { cutText } from '@methods/method/cut-text';
import type { JsonObject } from '@methods/method/json';
import type { LogSource } from './log-tail.ts';
import type { CheckRecord, StepEnd } from './run-outcome.ts';
import type { StepEvent } from './step-event.ts';
import type { StepError } from './step-failure.ts';

// Observes the walk of a run, for live views. It changes nothing, and gets only masked data.

/** Called within the walk: methods must be quick and must not throw. */
export interface RunObserver {
  /** Before each try. */
  stepStarted?(path: string, kind: StepKind, tryNumber: number): void;
  /** The try failed; the next one, `tryNumber`, starts after `delayMs`. */
  stepRetrying?(path: string, tryNumber: number, delayMs: number, error: StepError): void;
  /** Finished, failed or skipped. */
  stepEnded?(record: StepEnd): void;
  /** Finished in an earlier attempt. */
  stepKept?(path: string): void;
  /** The inputs of a code step or a called method, by name; before it runs. */
  stepGiven?(path: string, values: JsonObject): void;
  /** The step's output, while it runs; chunks, not lines. */
  logged?(path: string, text: string, from: LogSource): void;
  /** The reports of the step's code, while it runs; its checks come again with `checked` once the try has ended. */
  told?(path: string, event: StepEvent): void;
  checked?(path: string, check: CheckRecord): void;
}

/** For each try of a step; an unbounded journal would be too large to read again. */
const LOGGED_CHARACTERS_MAX = 64 * 1024;
const STEP_EVENTS = { succeeded: 'step.finished', failed: 'step.failed', skipped: 'step.skipped' } as const;

/** `write` takes a whole line without its end. Events are `{ seq, at, run_id, attempt, type, path?, … }`, `seq` after `lastSeq`, 0 unless given. */
export class JournalEvents implements RunObserver {
  private seq: number;
  /** Characters by step. */
  private readonly loggedBy = new Map<string, number>();

  constructor(
    private readonly run: {
      readonly runId: RunId;
      readonly attempt: number;
      readonly wallMs: () => number;
      readonly lastSeq?: number;
    },
    private readonly write: (line: string) => void,
  ) {
    this.seq = run.lastSeq ?? 0;
  }

  /** An event of the run itself: `run.started`, `run.waiting`, `run.resumed`, `run.finished`. */
  add(type: string, more: JsonObject = {}): void {
    const at = new Date(this.run.wallMs()).toISOString();
    const head = { seq: ++this.seq, at, run_id: this.run.runId, attempt: this.run.attempt, type };
    this.write(JSON.stringify({ ...head, ...more }));
  }

  stepStarted(path: string, kind: StepKind, tryNumber: number): void {
    this.loggedBy.delete(path);
    this.add('step.started', { path, kind, try: tryNumber });
  }

  stepRetrying(path: string, tryNumber: number, delayMs: number, error: StepError): void {
    this.add('step.retrying', { path, try: tryNumber, delay_ms: delayMs, error: { kind: error.kind } });
  }

  stepEnded({ path, kind, status, error }: StepEnd): void {
    this.add(STEP_EVENTS[status], { path, kind, ...(error === null ? {} : { error: { kind: error.kind } }) });
  }

  stepKept(path: string): void {
    this.add('step.kept', { path });
  }

  /** The beginning of a long log; its end is in the step's record. */
  logged(path: string, text: string): void {
    const before = this.loggedBy.get(path) ?? 0;
    if (before >= LOGGED_CHARACTERS_MAX) return;
    const kept = cutText(text, LOGGED_CHARACTERS_MAX - before);
    this.loggedBy.set(path, before + text.length);
    this.add('log.appended', { path, text: kept, ...(kept === text ? {} : { cut: true }) });
  }

  checked(path: string, { name, phase, status, level = levelOf(status) }: CheckRecord): void {
    this.add('check.recorded', { path, name, phase, ok: status === 'passed', level });
  }
}

function levelOf(status: CheckRecord['status']): 'error' | 'warn' {
  return status === 'warned' ? 'warn' : 'error';
}
