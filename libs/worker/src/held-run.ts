// Executes one granted run on this worker until it finishes, waits for an answer, is given back, or is taken away.
import { unreachable } from '@methods/base/assert';
import type { Clock } from '@methods/base/clock';
import type { FolderId } from '@methods/base/ids';
import { SealedValueError } from '@methods/content/device/sealed-value-error';
import { ServiceError } from '@methods/errors/service-error';
import { executeRun } from '@methods/executor/execute-run';
import { RunFolder } from '@methods/executor/run-folder';
import type { RunJournal, RunOutcome } from '@methods/executor/run-outcome';
import type { RunnerPool } from '@methods/executor/runner-pool';
import { StepFailure } from '@methods/executor/step-failure';
import type { JsonObject } from '@methods/method/json';
import type { Grant } from '@methods/proto/worker/v1/worker_service_pb';
import type { RunContent } from './content/run-content.ts';
import { answerOf, endingOf, finishedSteps } from './grant-history.ts';
import { InputFiles } from './input-files.ts';
import { RunAbort } from './run-abort.ts';
import { type RunFolderTransfer, SavedFolder } from './run-folder-transfer.ts';
import { ReportTooLarge, type RunReports, RunTaken } from './run-reports.ts';
import type { WorkerItem } from './scheduler-link.ts';
import {
  type FailureMessage,
  failedItem,
  giveBackItem,
  sleepItem,
  stepRecordItem,
  stepStartedItem,
  succeededItem,
} from './step-message.ts';
import { calleeOf, type VersionCache } from './version-cache.ts';
import type { WorkerVersion } from './version-preparation.ts';

export interface HeldRunParts {
  readonly versions: VersionCache;
  readonly folders: RunFolderTransfer;
  readonly runners: RunnerPool;
  readonly secrets: ReadonlyMap<string, string>;
  readonly fetch: typeof fetch;
  /** Holds the folders of runs during their execution. */
  readonly baseDir: string;
  readonly clock: Clock;
  readonly draining: () => boolean;
  readonly startsToldAfterMs?: number | undefined;
  /** Of a run whose result stays here, before its end is reported. */
  readonly onResultMade?: ((grant: Grant, result: JsonObject) => void) | undefined;
  /** The same, once its end is recorded. */
  readonly onResult?: ((grant: Grant, result: JsonObject) => void) | undefined;
}

/** Why this worker stops the run before its walk ends. */
type Stop =
  /** Cancelled, stale or lost: nothing is reported. */
  | { readonly reason: 'taken' }
  /** The worker stops: the run is given back. */
  | { readonly reason: 'drain' }
  /** The owner cannot record a report of the run: the run fails. */
  | { readonly reason: 'unreportable'; readonly error: FailureMessage };

const RETRY_MS = 1_000;
const UNSTORABLE = { code: 'step_failed', kind: 'internal', message: 'A report of the run could not be stored' };
const TOO_LARGE = { code: 'step_failed', kind: 'limit', message: 'A step or question is larger than 4 MiB' };

export class HeldRun {
  /** True once a message after the grant has named the run, so that its owner knows the grant arrived. */
  acceptanceTold = false;
  /** What ends this attempt is sent: an end, a question or a sleep. */
  private isReported = false;
  private readonly abort = new RunAbort();
  private stop: Stop | null = null;

  readonly grant: Grant;

  constructor(
    private readonly content: RunContent,
    readonly reports: RunReports,
    private readonly parts: HeldRunParts,
  ) {
    this.grant = content.grant;
  }

  /** Cancelled, stale or lost: ends the present step and reports nothing. */
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

  /** Handles the owner's refusal of report `seq`; 0: of the run itself, which was named in a hello or a heartbeat. */
  refused(seq: number, code: string, message: string): void {
    // An owner that recorded the end may have died before it acknowledged it: the reply to the report itself decides.
    if (seq === 0 && this.isReported) return;
    if (code !== 'invalid_request') return this.take();
    // The reports after a refused one were dropped with it, and may be refused too.
    if (!this.reports.drop(seq, new RunTaken('a report cannot be recorded'))) return;
    if (this.stop !== null) return this.take();
    this.stop = { reason: 'unreportable', error: { ...UNSTORABLE, message: message || UNSTORABLE.message } };
    this.abort.abort();
  }

  /**
   * Resolves with the run's last state, for the log, when the worker has nothing left to do for it. Calls `onReported`
   * when the end is sent, before it is acknowledged.
   */
  async execute(onReported: () => void): Promise<string> {
    try {
      return await this.walk(onReported).catch((error: unknown) => this.endEarly(error));
    } catch (error) {
      if (this.stop?.reason === 'taken' || error instanceof RunTaken) return 'taken';
      throw error;
    }
  }

  /** Reports the end of a walk that was interrupted. */
  private async endEarly(error: unknown): Promise<string> {
    if (this.stop?.reason === 'drain') return this.giveBack();
    if (this.stop?.reason === 'unreportable') return this.fail(this.stop.error, true);
    if (this.stop === null && error instanceof ReportTooLarge) return this.fail(TOO_LARGE, true);
    // The server refused the version or the files that the run needs.
    if (this.stop === null && error instanceof ServiceError) {
      return this.fail({ code: 'step_failed', kind: 'internal', message: error.message });
    }
    if (this.stop === null && error instanceof SealedValueError) {
      return this.fail({ code: 'step_failed', kind: 'input', message: error.message });
    }
    // A dependency of the version is unavailable here, its code cannot be read, or sealed inputs do not fit.
    if (this.stop === null && error instanceof StepFailure) {
      const code = error.kind === 'syntax' || error.kind === 'input' ? 'step_failed' : 'dependencies_failed';
      return this.fail({ code, kind: error.kind, message: error.message });
    }
    throw error;
  }

  private async walk(onReported: () => void): Promise<string> {
    const { grant, parts } = this;
    if (parts.draining()) return this.giveBack();
    const version = await this.version(() => parts.versions.get(grant.method, grant.versionId));
    // The preparation may have taken minutes.
    if (parts.draining()) return this.giveBack();
    // Each grant gets a folder of its own: the run may be granted here again while this one still removes its files.
    const folder = RunFolder.create(parts.baseDir, `${grant.runId}-${grant.token.slice(0, 8)}`);
    try {
      if (grant.folderId !== '') {
        await this.patiently(({ signal }) =>
          folder.restore(this.content.openedFolder(parts.folders.get(grant, signal))),
        );
      }
      const saved = SavedFolder.of(folder, grant.folderId, (files) =>
        this.patiently(({ signal }) =>
          parts.folders.put(grant, files, signal, (archive) => this.content.sentFolder(archive)),
        ),
      );
      return await this.tell(await this.run(version, saved), saved, onReported);
    } finally {
      await folder.remove();
    }
  }

  private run(version: WorkerVersion, saved: SavedFolder): Promise<RunOutcome> {
    const { grant, parts } = this;
    // The run was lost before: starts are reported at once, so that a step that crashes its worker is known by name.
    const files = new InputFiles(this.content, parts.folders.client, (work) =>
      this.patiently(({ signal }) => work(signal)),
    );
    const startsToldAfterMs = grant.attempt > 1 ? 0 : parts.startsToldAfterMs;
    return executeRun({
      runId: grant.runId,
      versionId: grant.versionId,
      startedAtMs: grant.startedAtMs,
      method: version.method,
      inputs: files.inputsOf(version.method, saved.folder.takeInputs(files.fetch)),
      ...(this.content.isSealed && { onDevice: true }),
      finished: finishedSteps(grant),
      ...answerOf(grant),
      ...endingOf(grant),
      secrets: parts.secrets,
      journal: this.journal(saved),
      runners: parts.runners,
      fetch: parts.fetch,
      folder: saved.folder,
      signal: this.abort,
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
        // Keeps its place after earlier records, which may still wait for their files.
        await saved.save();
        const begun = { path, kind, atMs: this.parts.clock.wallMs(), ...(checkpoint && { checkpoint }) };
        await this.report((seq) => stepStartedItem(this.grant, seq, begun));
      },
      stepRuns: (path, kind, atMs) => {
        // Not awaited: if this cannot be recorded, the next report fails as well.
        this.report((seq) => stepStartedItem(this.grant, seq, { path, kind, atMs })).catch(() => {});
      },
      givesBack: () => this.parts.draining(),
      stepEnded: async (record) => {
        await saved.save();
        await this.report((seq) => stepRecordItem(this.grant, seq, record, saved.folderId));
        // A draining worker gives runs back between two steps.
        if (!this.parts.draining()) return;
        this.stop ??= { reason: 'drain' };
        throw new RunTaken('the worker drains');
      },
    };
  }

  /** Wraps `reports.report` for the journal, which does not distinguish refusals. */
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
    // Needed even if nothing is left to save: records that still wait for their files go before the end.
    await saved.save();
    if (outcome.status === 'stopped') throw new RunTaken('the walk was stopped');
    const { lastRecord } = outcome;
    if (outcome.status === 'succeeded' && this.content.isSealed) this.parts.onResultMade?.(grant, outcome.result);
    const end = (seq: number) => this.endItem(outcome, seq, saved.folderId);
    this.isReported = true;
    const recorded =
      lastRecord === undefined
        ? this.reports.report(end)
        : this.reports.reportLast((seq) => stepRecordItem(grant, seq, lastRecord, saved.folderId), end);
    onReported();
    await recorded;
    if (outcome.status === 'succeeded' && this.content.isSealed) this.parts.onResult?.(grant, outcome.result);
    return outcome.status;
  }

  private endItem(
    outcome: Exclude<RunOutcome, { status: 'stopped' }>,
    seq: number,
    folderId: FolderId | '',
  ): WorkerItem {
    const { grant } = this;
    switch (outcome.status) {
      case 'succeeded':
        return succeededItem(grant, seq, JSON.stringify(outcome.result));
      case 'failed':
        return failedItem(grant, seq, outcome.error);
      case 'waiting':
        return this.content.askItem(seq, outcome.question, folderId);
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

  /** `cleanupLeft`: steps have run, and the steps that follow a failure have not. */
  private async fail(error: FailureMessage, cleanupLeft = this.grant.finishedSteps.length > 0): Promise<string> {
    await this.reports.report((seq) => failedItem(this.grant, seq, error, cleanupLeft));
    return 'failed';
  }

  /** Rejects at once when the run is stopped. The installation continues for the runs that share the version. */
  private version(fetch: () => Promise<WorkerVersion>): Promise<WorkerVersion> {
    return this.patiently((abort) => {
      return new Promise((resolve, reject) => {
        const stop = { handleEvent: () => reject(new RunTaken('the run was stopped')) };
        abort.addEventListener('abort', stop);
        fetch()
          .then(resolve, reject)
          .finally(() => abort.removeEventListener('abort', stop));
      });
    });
  }

  /**
   * Retries while the server is unavailable, as long as this worker holds the run. A key that is no longer accepted is
   * retried too: it is this worker's fault and must not fail the run. @throws RunTaken when the run is no longer ours
   * or must be let go.
   */
  private async patiently<T>(work: (abort: RunAbort) => Promise<T>): Promise<T> {
    for (;;) {
      if (this.abort.aborted) throw new RunTaken('the run was stopped');
      try {
        return await work(this.abort);
      } catch (error) {
        if (this.abort.aborted) throw new RunTaken('the run was stopped');
        if (!(error instanceof ServiceError)) throw error;
        if (error.code === 'stale_attempt') throw new RunTaken('another attempt holds the run');
        if (error.code !== 'unavailable' && error.code !== 'unauthorized') throw error;
        await new Promise<void>((resolve) => this.parts.clock.after(RETRY_MS, resolve));
      }
    }
  }
}
