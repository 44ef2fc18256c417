// One granted run on this worker, from the grant to its end here: finished, waiting for an answer, given back, or
// taken away.
import type { Clock } from '@methods/base/clock';
import { ServiceError } from '@methods/errors/service-error';
import { executeRun, type FinishedStep } from '@methods/executor/execute-run';
import { RunFolder } from '@methods/executor/run-folder';
import type { RunJournal, RunOutcome, StepEnd } from '@methods/executor/run-outcome';
import type { RunnerPool } from '@methods/executor/runner-pool';
import type { Logger } from '@methods/logging/logger';
import type { CompiledMethod } from '@methods/method/compiled-method';
import type { JsonObject, JsonValue } from '@methods/method/json';
import { StepStatus } from '@methods/proto/run/v1/run_pb';
import type { Grant } from '@methods/proto/worker/v1/worker_service_pb';
import type { RunFolderTransfer } from './run-folder-transfer.ts';
import { type RunReports, RunTaken } from './run-reports.ts';
import { SavedFolder } from './saved-folder.ts';
import {
  askItem,
  type FailureMessage,
  failedItem,
  giveBackItem,
  stepRecordItem,
  succeededItem,
} from './step-message.ts';
import type { VersionCache } from './version-cache.ts';

export type HeldGrant = Pick<Grant, 'runId' | 'token' | 'attempt'>;

export interface HeldRunParts {
  readonly versions: VersionCache;
  readonly folders: RunFolderTransfer;
  readonly runners: RunnerPool;
  readonly secrets: ReadonlyMap<string, string>;
  readonly fetch: typeof fetch;
  /** Where run folders stand while a run is here. */
  readonly baseDir: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly draining: () => boolean;
}

const RETRY_MS = 1_000;

export class HeldRun {
  /** Some report or heartbeat told the owner that the grant arrived. */
  acceptanceTold = false;
  private readonly abort = new AbortController();
  private reason: 'taken' | 'drain' | null = null;

  constructor(
    readonly grant: Grant,
    readonly reports: RunReports,
    private readonly parts: HeldRunParts,
  ) {}

  /** Cancelled, stale or lost: ends the present step and tells nobody. */
  take(): void {
    this.reason = 'taken';
    this.reports.end(new RunTaken('the run was taken away'));
    this.abort.abort();
  }

  /** The worker stops and has no time left for the present step. */
  interrupt(): void {
    if (this.reason !== null) return;
    this.reason = 'drain';
    this.abort.abort();
  }

  /**
   * Resolves when nothing of the run is left to do here, with its last state for the log. `onReported` is called when
   * its end is sent, before it is acknowledged.
   */
  async execute(onReported: () => void): Promise<string> {
    try {
      return await this.walk(onReported);
    } catch (error) {
      if (this.reason === 'taken' || error instanceof RunTaken) return 'taken';
      throw error;
    }
  }

  private async walk(onReported: () => void): Promise<string> {
    const { grant, parts } = this;
    if (parts.draining()) return this.giveBack();
    const method = await this.version();
    if (method === null) return 'taken';
    if ('code' in method) return this.fail(method);
    const folder = RunFolder.create(parts.baseDir, `${grant.runId}-${grant.attempt}`);
    try {
      if (grant.folderId !== '') await this.patiently(() => folder.restore(parts.folders.get(grant)));
      const saved = new SavedFolder(folder, (files) => this.patiently(() => parts.folders.put(grant, files)), grant);
      return await this.tell(await this.run(method, saved), saved, onReported);
    } finally {
      await folder.remove();
    }
  }

  private run(method: CompiledMethod, saved: SavedFolder): Promise<RunOutcome> {
    const { grant, parts } = this;
    return executeRun({
      runId: grant.runId,
      versionId: grant.versionId,
      startedAtMs: grant.startedAtMs,
      method,
      inputs: JSON.parse(grant.inputsJson) as JsonObject,
      finished: finishedSteps(grant),
      ...answerOf(grant),
      secrets: parts.secrets,
      journal: this.journal(saved),
      runners: parts.runners,
      fetch: parts.fetch,
      folder: saved.folder,
      signal: this.abort.signal,
      clock: parts.clock,
    });
  }

  private journal(saved: SavedFolder): RunJournal {
    return {
      stepEnded: async (record) => {
        if (saved.changed) await saved.save();
        await this.record(record, saved);
        // Between two steps is where a draining worker lets go.
        if (!this.parts.draining()) return;
        this.reason ??= 'drain';
        throw new RunTaken('the worker drains');
      },
    };
  }

  private record(end: StepEnd, saved: SavedFolder): Promise<void> {
    return this.reports.report((seq) => stepRecordItem(this.grant, seq, end, saved.folderId));
  }

  private async tell(outcome: RunOutcome, saved: SavedFolder, onReported: () => void): Promise<string> {
    const { grant } = this;
    if (outcome.status === 'stopped') return this.reason === 'drain' ? this.giveBack() : 'taken';
    const sent: Promise<void>[] = [];
    const recordLast = () => {
      if (outcome.lastRecord !== undefined) sent.push(this.record(outcome.lastRecord, saved));
    };
    switch (outcome.status) {
      case 'succeeded': {
        recordLast();
        sent.push(this.reports.report((seq) => succeededItem(grant, seq, JSON.stringify(outcome.result))));
        break;
      }
      case 'failed':
        recordLast();
        sent.push(this.reports.report((seq) => failedItem(grant, seq, outcome.error)));
        break;
      case 'waiting': {
        // The folder first: once the question is out, the run may go on anywhere.
        await saved.save();
        recordLast();
        sent.push(this.reports.report((seq) => askItem(grant, seq, outcome.question, saved.folderId)));
        break;
      }
    }
    onReported();
    await Promise.all(sent);
    return outcome.status;
  }

  private async giveBack(): Promise<string> {
    await this.reports.report((seq) => giveBackItem(this.grant, seq, 'the worker stops'));
    return 'given back';
  }

  private async fail(error: FailureMessage): Promise<string> {
    await this.reports.report((seq) => failedItem(this.grant, seq, error));
    return 'failed';
  }

  /** Null when the run was taken meanwhile; a failure when the version can never run here. */
  private async version(): Promise<CompiledMethod | FailureMessage | null> {
    const { grant, parts } = this;
    try {
      return await this.patiently(() => parts.versions.get(grant.method, grant.versionId));
    } catch (error) {
      if (error instanceof RunTaken) return null;
      if (!(error instanceof ServiceError)) throw error;
      return { code: 'step_failed', kind: 'internal', message: error.message };
    }
  }

  /** Again and again while the server is away, as long as the run is ours. @throws RunTaken when it no longer is. */
  private async patiently<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (this.abort.signal.aborted) throw new RunTaken('the run was taken away');
        if (!(error instanceof ServiceError)) throw error;
        if (error.code === 'stale_attempt') throw new RunTaken('another attempt holds the run');
        if (error.code !== 'unavailable') throw error;
        await new Promise<void>((resolve) => this.parts.clock.after(RETRY_MS, resolve));
      }
    }
  }
}

function finishedSteps(grant: Grant): Map<string, FinishedStep> {
  const finished = new Map<string, FinishedStep>();
  for (const { path, status, outJson, outWithheld } of grant.finishedSteps) {
    const name = stepStatus(status);
    if (name === null) continue;
    const out = outJson === '' ? null : (JSON.parse(outJson) as JsonValue);
    finished.set(path, { status: name, out, withheld: outWithheld });
  }
  return finished;
}

function stepStatus(status: StepStatus): FinishedStep['status'] | null {
  if (status === StepStatus.SUCCEEDED) return 'succeeded';
  if (status === StepStatus.SKIPPED) return 'skipped';
  return status === StepStatus.FAILED ? 'failed' : null;
}

function answerOf(grant: Grant) {
  if (grant.answer === undefined) return {};
  const { questionId, step, answerJson } = grant.answer;
  return { answer: { questionId, step, value: JSON.parse(answerJson) as JsonObject } };
}
