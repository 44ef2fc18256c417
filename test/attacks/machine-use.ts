// What the machine did during a window: the processor time of each process, and how long its event loop was held.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cpuSeconds } from '../harness/process-tree.ts';

const PROBE = new URL('./loop-delay.mjs', import.meta.url);

interface Watched {
  readonly name: string;
  readonly pid: number;
}

interface ProcessUse {
  readonly name: string;
  /** Of one core; summed over windows and divided by their time. */
  cpuS: number;
  heldMs: number;
}

export class MachineUse {
  private readonly folder = mkdtempSync(join(tmpdir(), 'methods-attacks-'));
  readonly nodeArgs = `--import ${PROBE.href}?folder=${this.folder}`;
  private uses: ProcessUse[] = [];
  private forS = 0;

  /** What `work` uses is added to what was used since `take`. */
  async during<T>(processes: readonly Watched[], work: () => Promise<T>): Promise<T> {
    const beganMs = Date.now();
    const pids = processes.map(({ pid }) => pid);
    const own = process.cpuUsage();
    const before = cpuSeconds(pids);
    const result = await work();
    const after = cpuSeconds(pids);
    this.forS += (Date.now() - beganMs) / 1_000;
    const { user, system } = process.cpuUsage(own);
    this.useOf('quiet').cpuS += (user + system) / 1e6;
    processes.forEach(({ name, pid }, n) => {
      const use = this.useOf(name);
      use.cpuS += (after[n] ?? 0) - (before[n] ?? 0);
      use.heldMs = Math.max(use.heldMs, this.longestHold(pid, beganMs));
    });
    return result;
  }

  /** One line, and begins again. */
  take(): string {
    const text = this.uses
      .map(
        ({ name, cpuS, heldMs }) =>
          `${name} ${((100 * cpuS) / this.forS).toFixed(0)} %${heldMs > 0 ? ` (${heldMs} ms)` : ''}`,
      )
      .join(', ');
    this.uses = [];
    this.forS = 0;
    return text;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private useOf(name: string): ProcessUse {
    const known = this.uses.find((use) => use.name === name);
    if (known !== undefined) return known;
    const use = { name, cpuS: 0, heldMs: 0 };
    this.uses.push(use);
    return use;
  }

  private longestHold(pid: number, sinceMs: number): number {
    let longest = 0;
    try {
      for (const line of readFileSync(join(this.folder, String(pid)), 'utf8').split('\n')) {
        const [atMs = 0, heldMs = 0] = line.split(' ').map(Number);
        if (atMs >= sinceMs) longest = Math.max(longest, heldMs);
      }
    } catch {
      // Not one of ours, such as Postgres.
    }
    return longest;
  }
}
