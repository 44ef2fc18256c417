// The state of a run by its journal: the steps that ended, the open question, the answer not used yet.
import type { QuestionId } from '@methods/base/ids';
import type { FinishedStep } from '@methods/executor/run-options';
import type { StepEnd } from '@methods/executor/run-outcome';
import type { JsonObject, JsonValue } from '@methods/method/json';
import type { JournalEvent } from './run-journal.ts';

/** As much of a log as the journal keeps; the rest is in a file of the step. */
const LOG_CHARACTERS_MAX = 4096;

export interface GivenAnswer {
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
