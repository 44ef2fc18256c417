// The state that all branches of one walk share: finished steps, the journal, the bounds of the whole run, and pauses.
import type { CompiledStep, StepKind } from '@methods/method/compiled-method';
import type { JsonObject, JsonValue } from '@methods/method/json';
import { RecordKeeper } from '../records/record-keeper.ts';
import type { FinishedStep, RunOptions } from '../run-options.ts';
import type { StepEnd } from '../run-outcome.ts';
import type { RunStop } from '../run-stop.ts';
import { StepFailure } from '../step-failure.ts';

/** All outs of a run together: they are held in memory here and kept by the server. */
const OUT_BYTES_MAX = 16 * 1024 * 1024;

export class RunState {
  readonly records: RecordKeeper;
  readonly starts: StepStarts;
  private outBytes = 0;

  constructor(
    readonly options: RunOptions,
    readonly stop: RunStop,
  ) {
    this.records = new RecordKeeper(options.journal);
    this.starts = new StepStarts(options, () => this.records.flush());
  }

  kept(path: string): FinishedStep | undefined {
    return this.options.finished.get(path);
  }

  /** The checkpoint of a step that began in an earlier attempt and has not ended; null: it began without one. */
  begun(path: string): { readonly checkpoint: JsonValue } | null {
    const kept = this.kept(path);
    return kept?.status === 'running' ? { checkpoint: kept.out } : null;
  }

  /** `computed`: the step only computes, so that it may run again. */
  record(end: StepEnd, computed = false): void {
    this.options.observer?.stepEnded?.(end);
    this.records.add(end, computed);
  }

  /** A step that only computes may run; false: not before the run is settled, if at all. */
  mayCompute(): boolean {
    const { journal } = this.options;
    return this.records.mayCompute() && !this.stop.stopped && journal.givesBack?.() !== true;
  }

  /** Waits until everything before is acknowledged, so that a step may act. False: the run is no longer ours. */
  async settled(): Promise<boolean> {
    try {
      if (!this.records.settled) await this.records.settle();
    } catch {
      return false;
    }
    return !this.stop.stopped;
  }

  /**
   * Waits for records that could still be in flight, because of branches or files, before the end that the last record
   * is sent with. False: the run is no longer ours.
   */
  async sentInOrder(): Promise<boolean> {
    if (!this.records.branched && !this.options.folder.hasFiles()) return true;
    try {
      await this.records.acknowledged();
    } catch {
      return false;
    }
    return true;
  }

  /** Waits until the start is acknowledged. False: the run is no longer ours. */
  async started(path: string, kind: StepKind | 'failure', checkpoint?: JsonObject): Promise<boolean> {
    const { journal } = this.options;
    if (journal.stepStarted === undefined) return true;
    this.starts.isRecorded(path);
    this.records.flush();
    try {
      await journal.stepStarted(path, kind, checkpoint);
    } catch {
      return false;
    }
    return this.settled();
  }

  /** Waits in place, after sending finished records. False: the run was stopped. */
  async pause(delayMs: number): Promise<boolean> {
    this.records.flush();
    let end = () => {};
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    const timer = this.options.clock.after(delayMs, end);
    await this.stop.during(over, end);
    timer.cancel();
    return !this.stop.stopped;
  }

  /** @throws StepFailure of kind limit when all outs together are too large. */
  charge(outJson: string): void {
    this.outBytes += Buffer.byteLength(outJson);
    if (this.outBytes > OUT_BYTES_MAX) {
      throw new StepFailure('limit', 'The outs of the run are larger than 16 MiB; use files');
    }
  }
}

const TOLD_AFTER_MS = 50;

/** Steps that end at once, or that rest without a process and are reported in other ways. */
const UNTOLD: ReadonlySet<string> = new Set(['check', 'ask']);

/**
 * Reports slow steps to the journal, so that a run shows its current step: a start is reported when the step has run
 * for a moment, since most steps end before that and their records are enough.
 */
class StepStarts {
  /**
   * Steps whose start is recorded, or is being recorded, with the state that a resume needs: another record would
   * replace it.
   */
  private readonly recorded = new Set<string>();

  /** `flush` sends the records of the steps before: a start keeps its place after them. */
  constructor(
    private readonly options: RunOptions,
    private readonly flush: () => void,
  ) {}

  /** A record of the start is made elsewhere. */
  isRecorded(path: string): void {
    this.recorded.add(path);
  }

  /** `work` is the step. */
  during<T>({ kind }: CompiledStep, path: string, work: () => T | Promise<T>): T | Promise<T> {
    const { journal, clock, finished, startsToldAfterMs = TOLD_AFTER_MS } = this.options;
    const known = finished.get(path);
    const keepsNote = known?.status === 'running' && known.out !== null;
    if (journal.stepRuns === undefined || UNTOLD.has(kind) || keepsNote) return work();
    const startedAtMs = clock.wallMs();
    const tell = () => {
      if (this.recorded.has(path) || this.options.signal.aborted) return;
      this.flush();
      journal.stepRuns?.(path, kind, startedAtMs);
    };
    if (startsToldAfterMs === 0) {
      tell();
      return work();
    }
    const timer = clock.after(startsToldAfterMs, tell);
    const ended = work();
    if (!(ended instanceof Promise)) {
      timer.cancel();
      return ended;
    }
    return ended.finally(() => timer.cancel());
  }
}
