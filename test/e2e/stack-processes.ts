// Which processes belong to a stack: those that name its data folder, or work in it.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface FoundProcess {
  readonly pid: number;
  readonly command: string;
}

/** Without zombies, which have no command line any more. */
export function processesOf(dataDir: string): FoundProcess[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid)
    .flatMap((entry) => {
      try {
        const command = readFileSync(`/proc/${entry}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
        const ours = command.includes(dataDir) || readlinkSync(`/proc/${entry}/cwd`).startsWith(dataDir);
        return ours && command !== '' ? [{ pid: Number(entry), command }] : [];
      } catch {
        // Gone meanwhile, or another user's.
        return [];
      }
    });
}
