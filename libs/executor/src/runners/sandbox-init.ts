// The first process of a sandbox. Every other process in it descends from it, including those that left their group or
// parent, and the kernel ends them all with it.
import { childrenOf, processStart } from './process-table.ts';

export class SandboxInit {
  /** A process of the same number that started at another time is not ours. */
  private readonly start: string | null;

  private constructor(private readonly pid: number) {
    this.start = processStart(pid);
  }

  /** `info`: bubblewrap's JSON about itself. Null if it cannot be read. */
  static of(info: string): SandboxInit | null {
    const pid = Number(/"child-pid": *(\d+)/.exec(info)?.[1]);
    return Number.isInteger(pid) && pid > 1 ? new SandboxInit(pid) : null;
  }

  isAlive(): boolean {
    return this.start !== null && processStart(this.pid) === this.start;
  }

  kill(): void {
    if (!this.isAlive()) return;
    try {
      process.kill(this.pid, 'SIGKILL');
    } catch {
      // It ended meanwhile.
    }
  }

  /** The process that runs steps, while no step has run yet. Null: there are several. */
  onlyProcess(): number | null {
    const [first, ...others] = childrenOf(this.pid);
    return first === undefined || others.length > 0 ? null : first;
  }

  /** True when there is another process than `runner`. */
  hasOthers(runner: number): boolean {
    return this.onlyProcess() !== runner || childrenOf(runner).length > 0;
  }
}
