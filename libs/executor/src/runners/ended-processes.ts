// Ends the processes of a step, also those that left its process group, and waits until they are gone, so that nothing
// the step started can change its files while they are collected.
import type { Clock, Timer } from '@methods/base/clock';
import { groupMembers, processesOfFolder, readProcessTable } from './process-table.ts';
import type { SandboxInit } from './sandbox-init.ts';

/** A killed process is gone in a moment, unless it waits for an unavailable disk. */
const GONE_MS_MAX = 5000;
const LOOK_EVERY_MS = 2;

/** The processes of a runner without a sandbox, as far as the process table shows them. */
interface LooseProcesses {
  /** The group's first process, which may be gone. */
  readonly leader: number;
  /** The folder that their environment names. */
  readonly workDir: string;
  /** True: the leader itself is kept. */
  readonly spareLeader: boolean;
}

/** False: they did not end in time. */
export function endSandbox(init: SandboxInit, clock: Clock): Promise<boolean> {
  return ended(clock, () => {
    init.kill();
    return !init.isAlive();
  });
}

/**
 * False: they did not end in time. A process that left the group and hides its environment is not found; only a sandbox
 * contains it.
 */
export function endLoose(processes: LooseProcesses, clock: Clock): Promise<boolean> {
  return ended(clock, () => {
    const left = looseProcesses(processes);
    for (const pid of left) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It ended meanwhile.
      }
    }
    return left.length === 0;
  });
}

export function looseProcesses({ leader, workDir, spareLeader }: LooseProcesses): number[] {
  const table = readProcessTable();
  const found = new Set([...groupMembers(table, leader), ...processesOfFolder(table, workDir)]);
  if (spareLeader) found.delete(leader);
  return [...found];
}

/** `attempt` ends what it can and returns whether all is done. A process it has killed needs a moment to be gone. */
function ended(clock: Clock, attempt: () => boolean): Promise<boolean> {
  const sinceMs = clock.monotonicMs();
  return new Promise((resolve) => {
    const look = () => {
      if (attempt()) resolve(true);
      else if (clock.monotonicMs() - sinceMs > GONE_MS_MAX) resolve(false);
      // Uses a real timer: one of the clock does not keep the process alive, and a command that runs one method may
      // have nothing else to wait for.
      else setTimeout(look, LOOK_EVERY_MS);
    };
    look();
  });
}

const EVERY_MS = 250;

/**
 * Ends processes that left their step's process group to outlive it; they still carry the step's folder in their
 * environment. Each search reads the whole process table, so one search serves all steps that ended since the last.
 */
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
