// Walks a local run to where it rests: its end, an unanswered question, or an interrupt. Every step's end is stored
// before the next step acts, so that the run can be resumed after any end of this process.
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { systemClock } from '@methods/base/clock';
import { newId } from '@methods/base/ids';
import { executeRun } from '@methods/executor/execute-run';
import type { JournalEvents, RunObserver } from '@methods/executor/journal-events';
import { RunFolder } from '@methods/executor/run-folder';
import type { Callee } from '@methods/executor/run-options';
import type { RunError, RunOutcome, RunQuestion, StepEnd } from '@methods/executor/run-outcome';
import { StepFailure } from '@methods/executor/step-failure';
import type { JsonObject, JsonValue } from '@methods/method/json';
import { CommandError } from '../errors/command-error.ts';
import type { LocalMethod } from '../method-file/local-method.ts';
import { reasonOf } from '../method-file/method-file.ts';
import type { ExecutorParts } from './executor-parts.ts';
import type { PreparedMethod } from './local-dependencies.ts';
import type { OpenRun } from './local-runs.ts';
import { writeRunJson } from './run-files.ts';
import { asJson, keptRecord, RunHistory, RunJournalFile } from './run-journal.ts';
import { type LocalQuestion, type LocalRunRecord, localQuestion } from './run-record.ts';
import { StepFolders, writeStepFile } from './step-folder.ts';

/** Where a run rests. `record` is the content of `run.json`. */
export type LocalRest =
  | { readonly status: 'succeeded'; readonly result: JsonObject; readonly record: LocalRunRecord }
  | { readonly status: 'failed'; readonly error: RunError; readonly record: LocalRunRecord }
  | { readonly status: 'waiting'; readonly question: LocalQuestion; readonly record: LocalRunRecord }
  | { readonly status: 'interrupted'; readonly record: LocalRunRecord };

/** A rest, and the records of all steps before it. */
export type WalkedRun = LocalRest & { readonly records: readonly StepEnd[] };

/** The view of the walk, which releases the terminal when something other than steps is shown. */
export interface WalkView extends RunObserver {
  note(text: string): void;
  rest(): void;
}

export interface LocalWalkParts {
  readonly run: OpenRun;
  readonly method: LocalMethod;
  readonly executor: ExecutorParts;
  readonly prepared: PreparedMethod;
  readonly secrets: ReadonlyMap<string, string>;
  readonly view: WalkView;
  /** Returns the answer to a question, checked against its form; null: there is no answer here. */
  readonly answer: (question: LocalQuestion) => Promise<JsonObject | null>;
  readonly interrupted: AbortSignal;
}

export class LocalWalk {
  private readonly history: RunHistory;
  private record: LocalRunRecord;
  private readonly steps: StepFolders;
  /** Records arrive without waiting for each other, and are kept in order of arrival. */
  private written: Promise<void> = Promise.resolve();

  private constructor(
    private readonly parts: LocalWalkParts,
    private readonly journal: RunJournalFile,
    private readonly folder: RunFolder,
  ) {
    const { run } = parts;
    this.history = new RunHistory(run.events);
    this.record = { ...run.record, attempt: attemptOf(run) };
    this.steps = new StepFolders(run.dir, (write) => {
      // A full disk is reported by the next end of a step.
      this.inOrder(write).catch(() => {});
    });
  }

  static async toItsRest(parts: LocalWalkParts): Promise<WalkedRun> {
    const { dir, record, events } = parts.run;
    const folder = await RunFolder.reopen(dirname(dir), record.run_id);
    const journal = await RunJournalFile.open(dir, record.run_id, attemptOf(parts.run), events.at(-1)?.seq ?? 0);
    const walk = new LocalWalk(parts, journal, folder);
    try {
      return { ...(await walk.walk()), records: walk.history.records };
    } catch (error) {
      if (error instanceof Error && 'syscall' in error) {
        throw new CommandError(
          'not_written',
          `the run's folder cannot be written: ${reasonOf(error as NodeJS.ErrnoException)}`,
        );
      }
      throw error;
    } finally {
      await journal.close();
    }
  }

  private async walk(): Promise<LocalRest> {
    const { run } = this.parts;
    await this.journal.append(run.events.length === 0 ? 'run.started' : 'run.resumed');
    const { status, question } = run.record;
    if (status === 'waiting' && question !== null) {
      const rest = await this.ask(question);
      if (rest !== null) return rest;
    }
    await this.save({ status: 'running' });
    for (;;) {
      const beganMs = performance.now();
      const outcome = await this.execute();
      this.record = { ...this.record, ran_ms: this.record.ran_ms + Math.round(performance.now() - beganMs) };
      if (outcome.lastRecord !== undefined) this.stepEnded(outcome.lastRecord).catch(() => {});
      await this.written;
      const rest = await this.restOf(outcome);
      if (rest !== null) return rest;
    }
  }

  private execute(): Promise<RunOutcome> {
    const { run, method, executor, prepared, secrets, view, interrupted } = this.parts;
    const { answer, finished } = this.history;
    return executeRun({
      runId: run.record.run_id,
      versionId: run.record.version_id,
      startedAtMs: Date.parse(run.record.started_at),
      method: method.method,
      inputs: run.inputs,
      finished,
      ...(answer === null ? {} : { answer }),
      secrets,
      journal: {
        stepEnded: (record) => this.stepEnded(record),
        stepStarted: (path, kind, checkpoint) => this.stepStarted(path, kind, checkpoint),
      },
      runners: executor.runners,
      fetch: executor.fetch,
      folder: this.folder,
      signal: interrupted,
      clock: systemClock,
      environment: prepared.environment,
      callee: calleeOf(method, prepared),
      ranMs: this.record.ran_ms,
      observer: allObservers(view, this.journal.told, this.steps),
    });
  }

  /** Null: the run continues. */
  private async restOf(outcome: RunOutcome): Promise<LocalRest | null> {
    switch (outcome.status) {
      case 'succeeded': {
        const { result } = outcome;
        await writeRunJson(this.parts.run.dir, 'result.json', result);
        const record = await this.end({ status: 'succeeded' }, { result });
        return { status: 'succeeded', result, record };
      }
      case 'failed':
        return this.fail(outcome.error);
      case 'stopped':
        return { status: 'interrupted', record: this.record };
      case 'waiting':
        return this.begin(outcome.question);
      case 'sleeping':
        await this.sleep(outcome.untilMs);
        return null;
    }
  }

  private async begin(question: RunQuestion): Promise<LocalRest | null> {
    const open = localQuestion(newId('q'), question, Date.now());
    await writeStepFile(this.parts.run.dir, question.step, 'question.json', open);
    await this.journal.append('run.waiting', { question: open as unknown as JsonValue });
    await this.save({ status: 'waiting', question: open });
    return this.ask(open);
  }

  /** The answer is in the journal before the run uses it. Null: the run continues. */
  private async ask(question: LocalQuestion): Promise<LocalRest | null> {
    const { answer, view } = this.parts;
    view.rest();
    const value = isOver(question) ? null : await answer(question);
    if (isOver(question)) {
      await this.unanswered(question);
      await this.save({ status: 'running', question: null });
      return null;
    }
    if (value === null) return { status: 'waiting', question, record: this.record };
    const given = { questionId: question.id, step: question.step, value };
    await this.journal.append('run.resumed', { answer: given });
    this.history.answered(given);
    await this.save({ status: 'running', question: null });
    return null;
  }

  /** The step has failed; the walk determines the consequences. */
  private async unanswered({ step, asked_at, timeout }: LocalQuestion): Promise<void> {
    const nothing = { out: null, outJson: '', withheld: false, checks: [], tries: [], dropped: [], log: null };
    const times = { startedAtMs: Date.parse(asked_at), finishedAtMs: Date.now() };
    const error = { kind: 'timeout', message: `No answer within ${timeout ?? 'its time'}` } as const;
    const record: StepEnd = { path: step, kind: 'ask', status: 'failed', ...times, ...nothing, error };
    this.parts.view.stepEnded?.(record);
    await this.stepEnded(record);
  }

  private async fail(error: RunError): Promise<LocalRest> {
    const record = await this.end({ status: 'failed', error }, { error: { ...error } });
    return { status: 'failed', error, record };
  }

  /** After an interrupted sleep, the walk finds the run interrupted. */
  private async sleep(untilMs: number): Promise<void> {
    const { view, interrupted } = this.parts;
    const until = new Date(untilMs).toISOString();
    await this.journal.append('run.sleeping', { until });
    view.note(`waits until ${until}`);
    // Timers are limited to 24 days.
    while (Date.now() < untilMs && !interrupted.aborted) {
      const ms = Math.min(untilMs - Date.now(), 24 * 3_600_000);
      await setTimeout(ms, undefined, { signal: interrupted }).catch(() => {});
    }
  }

  private stepStarted(path: string, kind: string, checkpoint: JsonObject | undefined): Promise<void> {
    return this.inOrder(async () => {
      await this.journal.append('step.started', { path, kind, checkpoint: checkpoint ?? null });
      this.history.started(path, checkpoint ?? null);
    });
  }

  private stepEnded(record: StepEnd): Promise<void> {
    return this.inOrder(async () => {
      await this.steps.ended(record);
      const kept = keptRecord(record);
      const type = record.status === 'succeeded' ? 'step.finished' : (`step.${record.status}` as const);
      await this.journal.append(type, { path: record.path, record: asJson(kept) });
      this.history.ended(kept);
    });
  }

  private inOrder(write: () => Promise<void>): Promise<void> {
    this.written = this.written.then(write);
    return this.written;
  }

  private async end(change: Partial<LocalRunRecord>, event: JsonObject): Promise<LocalRunRecord> {
    await this.journal.append('run.finished', event);
    return this.save({ ...change, question: null, ended_at: new Date().toISOString() });
  }

  private async save(change: Partial<LocalRunRecord>): Promise<LocalRunRecord> {
    this.record = { ...this.record, ...change };
    await writeRunJson(this.parts.run.dir, 'run.json', this.record);
    return this.record;
  }
}

/** Numbers the process that continues the run now. */
export function attemptOf({ record, events }: OpenRun): number {
  return events.length === 0 ? record.attempt : record.attempt + 1;
}

function calleeOf({ called }: LocalMethod, prepared: PreparedMethod): Callee {
  return async (target) => {
    const path = target.kind === 'file' ? target.path : '';
    const found = called.get(path);
    if (found === undefined) throw new StepFailure('call', 'A local run can call only the files it began with');
    return { ...found, environment: prepared.called.get(path) ?? prepared.environment };
  };
}

/** The journal and the step's folder have the end of a step before its record is reported. */
function allObservers(view: RunObserver, journal: JournalEvents, steps: StepFolders): RunObserver {
  return {
    stepStarted: (path, kind, tryNumber) => {
      steps.stepStarted(path);
      journal.stepStarted(path, kind, tryNumber);
      view.stepStarted?.(path, kind, tryNumber);
    },
    stepGiven: (path, values) => steps.stepGiven(path, values),
    stepRetrying: (path, tryNumber, delayMs, error) => {
      journal.stepRetrying(path, tryNumber, delayMs, error);
      view.stepRetrying?.(path, tryNumber, delayMs, error);
    },
    stepKept: (path) => {
      journal.stepKept(path);
      view.stepKept?.(path);
    },
    stepEnded: (record) => view.stepEnded?.(record),
    logged: (path, text, from) => {
      steps.logged(path, text, from);
      journal.logged(path, text);
      view.logged?.(path, text, from);
    },
    told: (path, event) => {
      steps.told(path, event);
      view.told?.(path, event);
    },
    checked: (path, check) => journal.checked(path, check),
  };
}

function isOver(question: LocalQuestion): boolean {
  return question.deadline_at !== null && Date.now() > Date.parse(question.deadline_at);
}
