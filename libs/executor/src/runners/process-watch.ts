// Looks at the process groups of steps that run for a while: memory and number of processes are bounded for the
// group as a whole, which no limit of the system does for a plain process.
import type { Clock, Timer } from '@methods/base/clock';
import { StepFailure } from '../step-failure.ts';
import { groupMembers, ownMemoryBytes, readProcessTable } from './process-table.ts';

export interface WatchedStep {
  readonly pid: number;
  readonly memoryMb: number;
  /** Ends the step at once. */
  readonly fail: (failure: StepFailure) => void;
}

const EVERY_MS = 250;
/** Looking takes at most this share of the worker's time. */
const SHARE_MAX = 0.05;
/** What a runtime needs for itself; the heaps have bounds of their own. */
const RUNTIME_MB = 128;
const PROCESSES_MAX = 200;

export class ProcessWatch {
  private readonly steps = new Set<WatchedStep>();
  private timer: Timer | null = null;

  constructor(private readonly clock: Clock) {}

  /** Costs nothing for a step that ends before the next look. Returns the end of the watch. */
  add(step: WatchedStep): () => void {
    this.steps.add(step);
    this.timer ??= this.clock.after(EVERY_MS, () => this.look());
    return () => this.steps.delete(step);
  }

  stop(): void {
    this.timer?.cancel();
    this.steps.clear();
  }

  private look(): void {
    this.timer = null;
    if (this.steps.size === 0) return;
    const startedMs = this.clock.monotonicMs();
    const table = readProcessTable();
    for (const step of [...this.steps]) {
      const members = groupMembers(table, step.pid);
      if (members.length > PROCESSES_MAX) {
        step.fail(new StepFailure('limit', `The step has more than ${PROCESSES_MAX} processes`));
        continue;
      }
      let bytes = 0;
      for (const pid of members) bytes += ownMemoryBytes(pid);
      if (bytes > (step.memoryMb + RUNTIME_MB) * 1024 * 1024) step.fail(memoryFailure(step.memoryMb));
    }
    if (this.steps.size === 0) return;
    const tookMs = this.clock.monotonicMs() - startedMs;
    this.timer = this.clock.after(Math.max(EVERY_MS, tookMs / SHARE_MAX), () => this.look());
  }
}

export function memoryFailure(memoryMb: number): StepFailure {
  return new StepFailure('memory', `The step used more memory than ${memoryMb} MiB (limits: memory_mb)`);
}
