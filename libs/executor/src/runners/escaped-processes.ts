// Ends processes that left their step's process group to outlive it; they still carry the step's folder in their
// environment. Each search reads the whole process table, so one search serves all steps that ended since the last.
import type { Clock, Timer } from '@methods/base/clock';
import { processesOfFolder, readProcessTable } from './process-table.ts';

const EVERY_MS = 250;

export class EscapedProcesses {
  private readonly folders = new Set<string>();
  private timer: Timer | null = null;

  constructor(private readonly clock: Clock) {}

  /** `workDir`: the working folder of a runner that is gone. */
  endLater(workDir: string): void {
    this.folders.add(workDir);
    this.timer ??= this.clock.after(EVERY_MS, () => this.endNow());
  }

  /** Runs at the latest when the worker stops. */
  endNow(): void {
    this.timer?.cancel();
    this.timer = null;
    if (this.folders.size === 0) return;
    const table = readProcessTable();
    for (const folder of this.folders) {
      for (const pid of processesOfFolder(table, folder)) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // It ended meanwhile.
        }
      }
    }
    this.folders.clear();
  }
}
