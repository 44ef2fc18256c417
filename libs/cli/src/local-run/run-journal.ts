// `journal.ndjson`: what happened in a local run, one event a line. A run resumes from it: a step whose end is in it
// never runs again.

import type { FileHandle } from 'node:fs/promises';
import { systemClock } from '@methods/base/clock';
import type { RunId } from '@methods/base/ids';
import { JournalEvents } from '@methods/executor/journal-events';
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
  /** Of events of a step. */
  readonly path?: string;
  readonly [name: string]: JsonValue | undefined;
}

/** The events so far. A last line without its end is of a write that a kill cut off: it is removed. */
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
  /** Events that are only for readers, not for resuming: they are written without waiting for the disk. */
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

  /** `lastSeq` is that of the last event; 0: none. */
  static async open(runDir: string, runId: RunId, attempt: number, lastSeq: number): Promise<RunJournalFile> {
    return new RunJournalFile(await openToAppend(runDir, JOURNAL), { runId, attempt, lastSeq });
  }

  /** Resolves when the event, and all before it, are on the disk. Events are in the order of the calls. */
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
