// Reads runs shortly before their deadlines, so that thousands of simultaneous deadlines cost only their commits. A run
// that was not read ahead is read by its actor, as usual.
import type { Clock, Timer } from '@methods/base/clock';
import type { RunId } from '@methods/base/ids';
import type { Logger } from '@methods/logging/logger';
import type { Run } from '../run/run.ts';
import type { DatabaseClock } from '../store/database-clock.ts';
import type { DueQuestion } from '../store/run-store.ts';
import { TimerHeap } from './timer-heap.ts';

const AHEAD_MS = 5_000;
/** A deadline this near passes before its run would be read. */
const NEAR_MS = 500;
/** Approximate memory of the runs, except those of the last statement. */
const BYTES_MAX = 8 << 20;
const RUNS_A_STATEMENT = 256;
/** Deadlines processed in one turn of the event loop. */
const LOOKED_AT_MAX = 4_096;
/** The pause between two statements, which leaves most of the node and its database to others. */
const REST_MS = 20;
/** The pause while there is no room. */
const FULL_MS = 250;

interface RunAhead {
  readonly run: Run;
  readonly bytes: number;
  /**
   * The epoch of the run's shard before the run was read: under another epoch, another node may have written the run.
   */
  readonly epoch: number;
}

export interface RunsAheadOptions {
  readonly load: (runIds: readonly RunId[]) => Promise<ReadonlyMap<RunId, Run>>;
  readonly isResident: (question: DueQuestion) => boolean;
  readonly epochOf: (shard: number) => number | null;
  readonly databaseClock: DatabaseClock;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class RunsAhead {
  private readonly heap = new TimerHeap<DueQuestion>();
  private readonly runs = new Map<RunId, RunAhead>();
  /** Runs being read. A run that a commit changes meanwhile is removed. */
  private readonly coming = new Set<string>();
  private bytes = 0;
  private timer: { readonly atMs: number; readonly set: Timer } | null = null;
  private stopped = false;

  constructor(private readonly options: RunsAheadOptions) {}

  add(question: DueQuestion): void {
    const nowMs = this.options.databaseClock.nowMs();
    if (question.wakeAtMs < nowMs + NEAR_MS) return;
    this.stopped = false;
    this.heap.push(question.wakeAtMs - AHEAD_MS, question);
    this.schedule(0);
  }

  /** Returns the committed run, once. */
  take({ runId, shard }: DueQuestion): Run | undefined {
    const ahead = this.runs.get(runId);
    this.drop(runId);
    return ahead?.epoch === this.options.epochOf(shard) ? ahead.run : undefined;
  }

  /** The run has changed, or belongs to another node. */
  drop(runId: RunId): void {
    this.coming.delete(runId);
    this.bytes -= this.runs.get(runId)?.bytes ?? 0;
    this.runs.delete(runId);
  }

  stop(): void {
    this.stopped = true;
    this.timer?.set.cancel();
    this.timer = null;
    this.heap.clear();
    this.runs.clear();
    this.coming.clear();
    this.bytes = 0;
  }

  private schedule(waitMsMin: number): void {
    const { heap, timer } = this;
    if (heap.nextAtMs === null || this.stopped || this.coming.size > 0) return;
    const nowMs = this.options.databaseClock.nowMs();
    const atMs = Math.max(heap.nextAtMs, nowMs + waitMsMin);
    if (timer !== null && timer.atMs <= atMs) return;
    timer?.set.cancel();
    this.timer = { atMs, set: this.options.clock.after(Math.max(1, atMs - nowMs), () => void this.read()) };
  }

  private async read(): Promise<void> {
    const { load, isResident, epochOf, databaseClock, logger } = this.options;
    this.timer = null;
    if (this.bytes >= BYTES_MAX) return this.schedule(FULL_MS);
    const nowMs = databaseClock.nowMs();
    const wanted = new Map<RunId, { readonly bytes: number; readonly epoch: number }>();
    let bytes = this.bytes;
    for (let n = 0; n < LOOKED_AT_MAX && wanted.size < RUNS_A_STATEMENT && bytes < BYTES_MAX; n++) {
      const [question] = this.heap.popDue(nowMs, 1);
      if (question === undefined) break;
      const epoch = epochOf(question.shard);
      if (epoch === null || question.wakeAtMs < nowMs + NEAR_MS || isResident(question)) continue;
      wanted.set(question.runId, { bytes: question.bytes, epoch });
      bytes += question.bytes;
    }
    if (wanted.size > 0) {
      for (const runId of wanted.keys()) this.coming.add(runId);
      try {
        for (const [runId, run] of await load([...wanted.keys()])) this.keep(runId, run, wanted.get(runId));
      } catch (error) {
        logger.debug({ error }, 'runs could not be read before their deadlines');
      }
      this.coming.clear();
    }
    this.schedule(REST_MS);
  }

  private keep(runId: RunId, run: Run, wanted: { readonly bytes: number; readonly epoch: number } | undefined): void {
    if (wanted === undefined || !this.coming.has(runId)) return;
    this.drop(runId);
    this.runs.set(runId, { run, ...wanted });
    this.bytes += wanted.bytes;
  }
}
