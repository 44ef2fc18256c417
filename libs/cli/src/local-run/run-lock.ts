// One process at a time works on a run: a second one would run its steps twice.
import { unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readRunText } from './run-files.ts';

const NAME = 'lock';
const TRIES_MAX = 3;

export type RunLock =
  | { readonly held: true; readonly release: () => Promise<void> }
  | { readonly held: false; readonly pid: number };

/** A lock whose process is gone (killed, machine restarted) is taken over. */
export async function takeRunLock(runDir: string): Promise<RunLock> {
  const path = join(runDir, NAME);
  for (let tries = 1; ; tries++) {
    try {
      await writeFile(path, `${process.pid}\n`, { flag: 'wx' });
      return { held: true, release: () => unlink(path) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const pid = Number.parseInt((await readRunText(runDir, NAME).catch(() => null)) ?? '', 10);
    if (tries >= TRIES_MAX || (pid > 0 && pid !== process.pid && isAlive(pid))) return { held: false, pid };
    await unlink(path).catch(() => {});
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process may not be signalled, but it is there.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
