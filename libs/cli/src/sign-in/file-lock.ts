// One process at a time, between processes of one user: a file that names its holder. A holder that died does not block.
import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { CommandError } from '../command/command-error.ts';

/** Longer than the work under any lock takes: by then its holder's number belongs to another process. */
const AGE_MAX_MS = 120_000;
const WAIT_MAX_MS = 150_000;
const AGAIN_MS = 25;

/** @throws CommandError `locked` after 150 s; what `work` throws; the signal's reason. */
export async function withFileLock<T>(path: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const own = `${path}.${randomUUID()}`;
  await writeFile(own, `${process.pid} ${hostname()}`, { mode: 0o600 });
  try {
    await take(own, path, signal);
    try {
      return await work();
    } finally {
      await rm(path, { force: true });
    }
  } finally {
    await rm(own, { force: true });
  }
}

async function take(own: string, path: string, signal: AbortSignal): Promise<void> {
  const deadlineMs = performance.now() + WAIT_MAX_MS;
  while (!(await linked(own, path))) {
    signal.throwIfAborted();
    if (performance.now() > deadlineMs) {
      throw new CommandError('locked', `another process holds ${path}`, { hint: 'end it, or remove the file' });
    }
    if (await isStale(path)) await breakLock(own, path);
    else await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

/** A link appears with its content or not at all, so no reader sees a lock without its holder. */
async function linked(own: string, path: string): Promise<boolean> {
  try {
    await link(own, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}

/** Only one process removes what another left, so none removes the lock that came after it. */
async function breakLock(own: string, path: string): Promise<void> {
  const breaking = `${path}.break`;
  if (!(await linked(own, breaking))) {
    if (await isStale(breaking)) await rm(breaking, { force: true });
    return;
  }
  try {
    if (await isStale(path)) await rm(path, { force: true });
  } finally {
    await rm(breaking, { force: true });
  }
}

async function isStale(path: string): Promise<boolean> {
  try {
    const [pid = '', host] = (await readFile(path, 'utf8')).split(' ');
    if (Date.now() - (await stat(path)).mtimeMs > AGE_MAX_MS) return true;
    return host === hostname() && !isAlive(Number(pid));
  } catch {
    // Released meanwhile.
    return false;
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
