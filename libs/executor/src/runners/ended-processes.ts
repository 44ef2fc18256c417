// Ends the processes of a step and waits until they are gone: before its files are taken, nothing that it started may
// still change them.
import type { Clock } from '@methods/base/clock';
import { groupMembers, processesOfFolder, readProcessTable } from './process-table.ts';
import type { SandboxInit } from './sandbox-init.ts';

/** A killed process is gone in a moment, unless it waits for a disk that is away. */
const GONE_MS_MAX = 5000;
const LOOK_EVERY_MS = 2;

/** The processes of a runner without a sandbox, as far as they can be found. */
export interface LooseProcesses {
  /** The group's first process, which may be gone. */
  readonly leader: number;
  /** What their environment names. */
  readonly workDir: string;
  /** True: the leader itself stays. */
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
 * False: they did not end in time. One that left the group and hides its environment is not found: only a sandbox holds
 * it.
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

/** `attempt` does what it can and says whether all is done; what it ended needs a moment to be gone. */
function ended(clock: Clock, attempt: () => boolean): Promise<boolean> {
  const sinceMs = clock.monotonicMs();
  return new Promise((resolve) => {
    const look = () => {
      if (attempt()) resolve(true);
      else if (clock.monotonicMs() - sinceMs > GONE_MS_MAX) resolve(false);
      // A timer of the clock keeps no process alive, and a command that runs one method may have nothing else.
      else setTimeout(look, LOOK_EVERY_MS);
    };
    look();
  });
}
