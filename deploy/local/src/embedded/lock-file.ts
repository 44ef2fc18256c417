// One process at a time: a file that names its holder. A holder that died without removing it does not block.
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { StackError } from './stack-error.ts';

const WAIT_MS = 600_000;

/** Runs `work` while holding `path`; throws StackError when another live process holds it for ten minutes. */
export async function withLockFile<T>(path: string, work: () => Promise<T>): Promise<T> {
  const own = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  writeFileSync(own, String(process.pid));
  try {
    const deadline = performance.now() + WAIT_MS;
    while (!tryTake(own, path)) {
      if (performance.now() > deadline) {
        throw new StackError('install_failed', `The lock ${path} is held by another process: remove it.`);
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    try {
      return await work();
    } finally {
      rmSync(path, { force: true });
    }
  } finally {
    rmSync(own, { force: true });
  }
}

/** A hard link appears with its content or not at all, so no reader sees a lock without its holder's id. */
function tryTake(own: string, path: string): boolean {
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  removeIfStale(path);
  return false;
}

function removeIfStale(path: string): void {
  try {
    const before = statSync(path);
    if (isAlive(Number(readFileSync(path, 'utf8')))) return;
    // Not a new lock in place of the stale one just read.
    if (statSync(path).ino === before.ino) rmSync(path, { force: true });
  } catch {
    // Released meanwhile.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
