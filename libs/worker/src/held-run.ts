// One granted run on this worker, from the grant to its end here: finished, waiting for an answer, given back, or
// taken away.
import { unreachable } from '@methods/base/assert';
import type { Clock } from '@methods/base/clock';
import { ServiceError } from '@methods/errors/service-error';
import { executeRun } from '@methods/executor/execute-run';
import { RunFolder } from '@methods/executor/run-folder';
import type { RunJournal, RunOutcome } from '@methods/executor/run-outcome';
import type { RunnerPool } from '@methods/executor/runner-pool';
import { StepFailure } from '@methods/executor/step-failure';
import type { Grant } from '@methods/proto/worker/v1/worker_service_pb';
import { calleeOf } from './called-version.ts';
import { answerOf, endingOf, finishedSteps } from './grant-history.ts';
import { fetchOf, inputsOf } from './input-files.ts';
import type { RunFolderTransfer } from './run-folder-transfer.ts';
import { ReportTooLarge, type RunReports, RunTaken } from './run-reports.ts';
import { SavedFolder } from './saved-folder.ts';
import type { WorkerItem } from './scheduler-link.ts';
import {
  askItem,
  type FailureMessage,
  failedItem,
  giveBackItem,
  sleepItem,
  stepRecordItem,
  stepStartedItem,
  succeededItem,
} from './step-message.ts';
import type { VersionCache } from './version-cache.ts';
import type { WorkerVersion } from './version-preparation.ts';

export interface HeldRunParts {
  readonly versions: VersionCache;
  readonly folders: RunFolderTransfer;
  readonly runners: RunnerPool;
  readonly secrets: ReadonlyMap<string, string>;
  readonly fetch: typeof fetch;
  /** Where run folders stand while a run is here. */
  readonly baseDir: string;
  readonly clock: Clock;
  readonly draining: () => boolean;
  readonly startsToldAfterMs?: number | undefined;
}

/** Why a run ends here before its walk does. */
type Stop =
  /** Cancelled, stale or lost: nobody is told. */
  | { readonly reason: 'taken' }
  /** The worker stops: the run is given back. */
  | { readonly reason: 'drain' }
  /** The owner cannot record what the run reports: the run fails. */
  | { readonly reason: 'unreportable'; readonly error: FailureMessage };

const RETRY_MS = 1_000;
const UNSTORABLE = { code: 'step_failed', kind: 'internal', message: 'A report of the run could not be stored' };
const TOO_LARGE = { code: 'step_failed', kind: 'limit', message: 'A step or question is larger than 4 MiB' };

export class HeldRun {
  /** Some message since the grant has named the run, so that its owner knows the grant arrived. */
  acceptanceTold = false;
  private readonly abort = new AbortController();
  private stop: Stop | null = null;

  constructor(
    readonly grant: Grant,
    readonly reports: RunReports,
    private readonly parts: HeldRunParts,
  ) {}

  /** Cancelled, stale or lost: ends the present step and tells nobody. */
  take(): void {
    this.stop = { reason: 'taken' };
    this.reports.end(new RunTaken('the run was taken away'));
    this.abort.abort();
  }

  /** The worker stops and has no time left for the present step. */
  interrupt(): void {
    if (this.stop !== null && this.stop.reason !== 'drain') return;
    this.stop = { reason: 'drain' };
    this.abort.abort();
  }

  /** The owner refused report `seq`. */
  refused(seq: number, code: string, message: string): void {
    if (code !== 'invalid_request') return this.take();
    // What followed a refused report was dropped with it, and may be refused as well.
    if (!this.reports.drop(seq, new RunTaken('a report cannot be recorded'))) return;
    if (this.stop !== null) return this.take();
    this.stop = { reason: 'unreportable', error: { ...UNSTORABLE, message: message || UNSTORABLE.message } };
    this.abort.abort();
  }

  /**
   * Resolves when nothing of the run is left to do here, with its last state for the log. `onReported` is called when
   * its end is sent, before it is acknowledged.
   */
  async execute(onReported: () => void): Promise<string> {
    try {
      return await this.walk(onReported).catch((error: unknown) => this.endEarly(error));
    } catch (error) {
      if (this.stop?.reason === 'taken' || error instanceof RunTaken) return 'taken';
      throw error;
    }
  }

  /** What is told of a walk that broke off. */
  private async endEarly(error: unknown): Promise<string> {
    if (this.stop?.reason === 'drain') return this.giveBack();
    if (this.stop?.reason === 'unreportable') return this.fail(this.stop.error, true);
    if (this.stop === null && error instanceof ReportTooLarge) return this.fail(TOO_LARGE, true);
    // The server refused what the run cannot do without: its version or its files.
    if (this.stop === null && error instanceof ServiceError) {
      return this.fail({ code: 'step_failed', kind: 'internal', message: error.message });
    }
    // What the version depends on cannot be had here, or its code cannot be read.
    if (this.stop === null && error instanceof StepFailure) {
      const code = error.kind === 'syntax' ? 'step_failed' : 'dependencies_failed';
      return this.fail({ code, kind: error.kind, message: error.message });
    }
    throw error;
  }

  private async walk(onReported: () => void): Promise<string> {
    const { grant, parts } = this;
    if (parts.draining()) return this.giveBack();
    const version = await this.version(() => parts.versions.get(grant.method, grant.versionId));
    // To prepare it may have taken minutes.
    if (parts.draining()) return this.giveBack();
    // One folder a grant: the run may be granted here again while this one still removes its files.
    const folder = RunFolder.create(parts.baseDir, `${grant.runId}-${grant.token.slice(0, 8)}`);
    try {
      if (grant.folderId !== '') {
        await this.patiently((signal) => folder.restore(parts.folders.get(grant, signal)));
      }
      const saved = SavedFolder.of(folder, grant.folderId, (files) =>
        this.patiently((signal) => parts.folders.put(grant, files, signal)),
      );
      return await this.tell(await this.run(version, saved), saved, onReported);
    } finally {
      await folder.remove();
    }
  }

  private run(version: WorkerVersion, saved: SavedFolder): Promise<RunOutcome> {
    const { grant, parts } = this;
    // Lost before: a step that ends its worker must be known by name.
    const fetch = fetchOf(grant, parts.folders.client, (work) => this.patiently(work));
    const startsToldAfterMs = grant.attempt > 1 ? 0 : parts.startsToldAfterMs;
    return executeRun({
      runId: grant.runId,
      versionId: grant.versionId,
      startedAtMs: grant.startedAtMs,
      method: version.method,
      inputs: inputsOf(grant, version.method, saved.folder.takeInputs(fetch)),
      finished: finishedSteps(grant),
      ...answerOf(grant),
      ...endingOf(grant),
      secrets: parts.secrets,
      journal: this.journal(saved),
      runners: parts.runners,
      fetch: parts.fetch,
      folder: saved.folder,
      signal: this.abort.signal,
      clock: parts.clock,
      environment: version.environment,
      ranMs: grant.runningMs,
      ...(startsToldAfterMs !== undefined && { startsToldAfterMs }),
      callee: calleeOf(version, parts.versions, (fetch) => this.version(fetch)),
    });
  }

  private journal(saved: SavedFolder): RunJournal {
    return {
      stepStarted: async (path, kind, checkpoint) => {
        // In its place after the records before it, which may wait for their files.
        await saved.save();
        const begun = { path, kind, atMs: this.parts.clock.wallMs(), ...(checkpoint && { checkpoint }) };
        await this.report((seq) => stepStartedItem(this.grant, seq, begun));
      },
      stepRuns: (path, kind, atMs) => {
        // Nobody waits for it: where it cannot be recorded, neither can what follows.
        this.report((seq) => stepStartedItem(this.grant, seq, { path, kind, atMs })).catch(() => {});
      },
      stepEnded: async (record) => {
        await saved.save();
        await this.report((seq) => stepRecordItem(this.grant, seq, record, saved.folderId));
        // Between two steps is where a draining worker lets go.
        if (!this.parts.draining()) return;
        this.stop ??= { reason: 'drain' };
        throw new RunTaken('the worker drains');
      },
    };
  }

  /** For the journal, which cannot tell one refusal from another. */
  private async report(make: (seq: number) => WorkerItem): Promise<void> {
    try {
      await this.reports.report(make);
    } catch (error) {
      if (error instanceof ReportTooLarge) this.stop ??= { reason: 'unreportable', error: TOO_LARGE };
      throw error;
    }
  }

  private async tell(outcome: RunOutcome, saved: SavedFolder, onReported: () => void): Promise<string> {
    const { grant } = this;
    // Also where there is nothing to save: records that still wait for their files go before the end.
    await saved.save();
    if (outcome.status === 'stopped') throw new RunTaken('the walk was stopped');
    const { lastRecord } = outcome;
    const end = (seq: number) => this.endItem(outcome, seq, saved.folderId);
    const recorded =
      lastRecord === undefined
        ? this.reports.report(end)
        : this.reports.reportLast((seq) => stepRecordItem(grant, seq, lastRecord, saved.folderId), end);
    onReported();
    await recorded;
    return outcome.status;
  }

  private endItem(outcome: Exclude<RunOutcome, { status: 'stopped' }>, seq: number, folderId: string): WorkerItem {
    const { grant } = this;
    switch (outcome.status) {
      case 'succeeded':
        return succeededItem(grant, seq, JSON.stringify(outcome.result));
      case 'failed':
        return failedItem(grant, seq, outcome.error);
      case 'waiting':
        return askItem(grant, seq, outcome.question, folderId);
      case 'sleeping':
        return sleepItem(grant, seq, outcome.untilMs - this.parts.clock.wallMs(), folderId);
      default:
        return unreachable(outcome);
    }
  }

  private async giveBack(): Promise<string> {
    await this.reports.report((seq) => giveBackItem(this.grant, seq, 'the worker stops'));
    return 'given back';
  }

  /** `cleanupLeft`: steps have run, and those that follow a failure have not. */
  private async fail(error: FailureMessage, cleanupLeft = this.grant.finishedSteps.length > 0): Promise<string> {
    await this.reports.report((seq) => failedItem(this.grant, seq, error, cleanupLeft));
    return 'failed';
  }

  /** A stopped run does not wait for packages to be installed; the runs that share the version do. */
  private version(fetch: () => Promise<WorkerVersion>): Promise<WorkerVersion> {
    return this.patiently((signal) => {
      return new Promise((resolve, reject) => {
        const stop = () => reject(new RunTaken('the run was stopped'));
        signal.addEventListener('abort', stop, { once: true });
        fetch()
          .then(resolve, reject)
          .finally(() => signal.removeEventListener('abort', stop));
      });
    });
  }

  /**
   * Again and again while the server is away, as long as the run is ours. A key that is not accepted any more is this
   * worker's trouble and no fault of the run. @throws RunTaken when the run is no longer ours or must be let go.
   */
  private async patiently<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    for (;;) {
      if (this.abort.signal.aborted) throw new RunTaken('the run was stopped');
      try {
        return await work(this.abort.signal);
      } catch (error) {
        if (this.abort.signal.aborted) throw new RunTaken('the run was stopped');
        if (!(error instanceof ServiceError)) throw error;
        if (error.code === 'stale_attempt') throw new RunTaken('another attempt holds the run');
        if (error.code !== 'unavailable' && error.code !== 'unauthorized') throw error;
        await new Promise<void>((resolve) => this.parts.clock.after(RETRY_MS, resolve));
      }
    }
  }
}
