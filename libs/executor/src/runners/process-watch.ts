// Watches the process groups of steps that run for a while: bounds the memory and the number of processes of the group
// as a whole, which no system limit does for a plain process.
import type { Clock, Timer } from '@methods/base/clock';
import { StepFailure } from '../step-failure.ts';
import { groupMembers, ownMemoryBytes, readProcessTable } from './process-table.ts';
import type { Runner } from './runner.ts';

interface WatchedStep {
  readonly pid: number;
  readonly memoryMb: number;
  readonly sinceMs: number;
}

const EVERY_MS = 250;
/**
 * A check reads the whole process table, so steps that end within a moment, of which there are always some, are not
 * checked.
 */
const YOUNG_MS = 50;
/** Checks take at most this share of the worker's time. */
const SHARE_MAX = 0.05;
/** What a runtime needs for itself; the heaps have bounds of their own. */
const RUNTIME_MB = 128;
const PROCESSES_MAX = 200;

export class ProcessWatch {
  /** Keyed by the runner that has the step. */
  private readonly steps = new Map<Runner, WatchedStep>();
  private timer: Timer | null = null;

  constructor(private readonly clock: Clock) {}

  /** Watches until `remove`. Costs nothing for a short step. */
  add(runner: Runner, pid: number, memoryMb: number): void {
    this.steps.set(runner, { pid, memoryMb, sinceMs: runner.sinceMs });
    this.timer ??= this.clock.after(EVERY_MS, () => this.look());
  }

  remove(runner: Runner): void {
    this.steps.delete(runner);
  }

  stop(): void {
    this.timer?.cancel();
    this.steps.clear();
  }

  private look(): void {
    this.timer = null;
    if (this.steps.size === 0) return;
    const startedMs = this.clock.monotonicMs();
    const old = [...this.steps].filter(([, { sinceMs }]) => startedMs - sinceMs >= YOUNG_MS);
    const table = old.length > 0 ? readProcessTable() : new Map();
    for (const [runner, { pid: leader, memoryMb }] of old) {
      const members = groupMembers(table, leader);
      if (members.length > PROCESSES_MAX) {
        void runner.kill(new StepFailure('limit', `The step has more than ${PROCESSES_MAX} processes`));
        continue;
      }
      let bytes = 0;
      for (const pid of members) bytes += ownMemoryBytes(pid);
      if (bytes > (memoryMb + RUNTIME_MB) * 1024 * 1024) void runner.kill(memoryFailure(memoryMb));
    }
    if (this.steps.size === 0) return;
    const tookMs = this.clock.monotonicMs() - startedMs;
    this.timer = this.clock.after(Math.max(EVERY_MS, tookMs / SHARE_MAX), () => this.look());
  }
}

export function memoryFailure(memoryMb: number): StepFailure {
  return new StepFailure('memory', `The step used more memory than ${memoryMb} MiB (limits: memory_mb)`);
}
