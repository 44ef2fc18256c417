// `journal.ndjson`: the events of a local run, one a line, and the state of the run derived from them. A run resumes
// from it: a step whose end is in it never runs again.
import type { FileHandle } from 'node:fs/promises';
import { systemClock } from '@methods/base/clock';
import type { QuestionId, RunId } from '@methods/base/ids';
import { JournalEvents } from '@methods/executor/journal-events';
import type { FinishedStep } from '@methods/executor/run-options';
import type { StepEnd } from '@methods/executor/run-outcome';
import type { JsonObject, JsonValue } from '@methods/method/json';
import { openToAppend, readRunFile } from './run-files.ts';

export const JOURNAL = 'journal.ndjson';

export interface JournalEvent {
  readonly seq: number;
  readonly at: string;
  readonly run_id: RunId;
  readonly attempt: number;
  /** `run.*`, `step.*`, `check.recorded`, `log.appended`. */
  readonly type: string;
  /** Set for events of a step. */
  readonly path?: string;
  readonly [name: string]: JsonValue | undefined;
}

/** Returns the events so far. An incomplete last line, left by a kill, is removed. */
export async function readJournal(runDir: string): Promise<JournalEvent[]> {
  const content = await readRunFile(runDir, JOURNAL);
  const wholeBytes = content.lastIndexOf('\n') + 1;
  if (wholeBytes < content.length) {
    const file = await openToAppend(runDir, JOURNAL);
    await file.truncate(wholeBytes).finally(() => file.close());
  }
  const lines = content.toString('utf8', 0, wholeBytes).split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as JournalEvent);
}

export class RunJournalFile {
  /** Events only for readers, not for resuming: they are written without waiting for the disk. */
  readonly told: JournalEvents;
  private last: Promise<void> = Promise.resolve();

  private constructor(
    private readonly file: FileHandle,
    { runId, attempt, lastSeq }: { readonly runId: RunId; readonly attempt: number; readonly lastSeq: number },
  ) {
    this.told = new JournalEvents({ runId, attempt, lastSeq, wallMs: systemClock.wallMs }, (line) => {
      this.last = this.last.then(() => file.appendFile(`${line}\n`));
      // The next write that waits reports a full disk.
      this.last.catch(() => {});
    });
  }

  /** `lastSeq`: of the last event; 0: none. */
  static async open(runDir: string, runId: RunId, attempt: number, lastSeq: number): Promise<RunJournalFile> {
    return new RunJournalFile(await openToAppend(runDir, JOURNAL), { runId, attempt, lastSeq });
  }

  /** Resolves when the event, and all before it, are stored. Events are in the order of the calls. */
  append(type: string, more: JsonObject = {}): Promise<void> {
    this.told.add(type, more);
    this.last = this.last.then(() => this.file.datasync());
    return this.last;
  }

  async close(): Promise<void> {
    await this.last.catch(() => {});
    await this.file.close();
  }
}

/** The part of a log that the journal keeps; the rest is in a file of the step. */
const LOG_CHARACTERS_MAX = 4096;

/** The state of a run by its journal: the steps that ended, the open question, and the unused answer. */
interface GivenAnswer {
  readonly questionId: QuestionId;
  readonly step: string;
  readonly value: JsonObject;
}

export class RunHistory {
  readonly finished = new Map<string, FinishedStep>();
  readonly records: StepEnd[] = [];
  private given: GivenAnswer | null = null;

  constructor(events: readonly JournalEvent[]) {
    for (const event of events) this.add(event);
  }

  /** The answer whose step has no record yet. */
  get answer(): GivenAnswer | null {
    if (this.given === null) return null;
    const status = this.finished.get(this.given.step)?.status ?? 'running';
    return status === 'running' ? this.given : null;
  }

  answered(answer: GivenAnswer): void {
    this.given = answer;
  }

  /** `checkpoint`: what the step needs to continue in another process. */
  started(path: string, checkpoint: JsonValue): void {
    this.finished.set(path, { status: 'running', out: checkpoint, withheld: false });
  }

  ended(record: StepEnd): void {
    this.records.push(record);
    const { path, status, out, withheld, error } = record;
    this.finished.set(path, { status, out, withheld, ...(error === null ? {} : { error }) });
  }

  private add(event: JournalEvent): void {
    if (event.type === 'run.resumed' && event.answer !== undefined) {
      this.answered(event.answer as unknown as GivenAnswer);
    } else if (event.record !== undefined) {
      this.ended(event.record as unknown as StepEnd);
    } else if (event.checkpoint !== undefined && event.path !== undefined) {
      this.started(event.path, event.checkpoint);
    }
  }
}

/** The part of a record that the journal keeps: the out once, and the end of the log. */
export function keptRecord(record: StepEnd): StepEnd {
  const { log } = record;
  return { ...record, outJson: '', log: log === null ? null : { ...log, text: log.text.slice(-LOG_CHARACTERS_MAX) } };
}

/** A record is JSON throughout. */
export function asJson(record: StepEnd): JsonValue {
  return record as unknown as JsonValue;
}
