// Folders for tests: one per test process, and a shared one.
import { mkdtempSync, realpathSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';

/** A shared folder in which tests of dependencies keep one pip. Undefined when no test runner provides it. */
export function pipFolder(): string | undefined {
  return process.env.METHODS_TEST_PIP;
}

export function tempFolder(name: string): string {
  return realpathSync(mkdtempSync(join(tmpdir(), `methods-test-${name}-`)));
}

/** A file system in memory, on Linux; it may be small on small machines and in containers. */
export const IN_MEMORY = '/dev/shm';

/**
 * A folder for files that are written and synchronized often and never read again. In memory if the machine then has at
 * least the expected `bytes` left again; else a `tempFolder`.
 */
export function quickFolder(name: string, bytes: number): string {
  return hasMemoryFor(bytes) ? realpathSync(mkdtempSync(join(IN_MEMORY, `methods-test-${name}-`))) : tempFolder(name);
}

/** Whether the machine has that much memory left for files, and as much again. */
export function hasMemoryFor(bytes: number): boolean {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    // The limit of a container; without one it is 0 or larger than the memory.
    const bound = process.constrainedMemory() || Number.POSITIVE_INFINITY;
    return bavail * bsize >= bytes && Math.min(freemem(), bound) >= 2 * bytes;
  } catch {
    return false;
  }
}
