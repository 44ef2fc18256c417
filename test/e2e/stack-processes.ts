// Which processes belong to a stack: those that name its data folder, or work in it.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface FoundProcess {
  readonly pid: number;
  readonly command: string;
}

/** Without zombies, which have no command line any more, and without the guards of this test itself. */
export function processesOf(dataDir: string): FoundProcess[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid)
    .flatMap((entry) => {
      try {
        const command = readFileSync(`/proc/${entry}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
        const ours = command.includes(dataDir) || readlinkSync(`/proc/${entry}/cwd`).startsWith(dataDir);
        return ours && command !== '' && !isOwnGuard(entry, command) ? [{ pid: Number(entry), command }] : [];
      } catch {
        // Gone meanwhile, or another user's.
        return [];
      }
    });
}

function isOwnGuard(pid: string, command: string): boolean {
  if (!command.includes('server-guard')) return false;
  const [, parent] = /\nPPid:\t(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(parent) === process.pid;
}
