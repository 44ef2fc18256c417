// The first process of a sandbox. Every other one in it descends from it, also what left its group or its parent, and
// the kernel ends them all with it: when it is gone, they are.
import { childrenOf, processStart } from './process-table.ts';

export class SandboxInit {
  /** A process of the same number that started at another time is not ours. */
  private readonly start: string | null;

  private constructor(private readonly pid: number) {
    this.start = processStart(pid);
  }

  /** `info`: what bubblewrap writes of itself; null where it is not that. */
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

  /** The one process that runs steps, while no step has run yet; null: it is not alone. */
  onlyProcess(): number | null {
    const [first, ...others] = childrenOf(this.pid);
    return first === undefined || others.length > 0 ? null : first;
  }

  /** True when there is another process than `runner`. */
  hasOthers(runner: number): boolean {
    return this.onlyProcess() !== runner || childrenOf(runner).length > 0;
  }
}
