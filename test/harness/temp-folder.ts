// Folders of tests: one for a test process, and one that they share.
import { mkdtempSync, realpathSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where tests of dependencies keep one pip for all of them; undefined: no test runner gave them a place. */
export function pipFolder(): string | undefined {
  return process.env.METHODS_TEST_PIP;
}

export function tempFolder(name: string): string {
  return realpathSync(mkdtempSync(join(tmpdir(), `methods-test-${name}-`)));
}

/** A file system in memory, on Linux; on small machines and in containers it may be small. */
const IN_MEMORY = '/dev/shm';

/**
 * For what is written and synchronized all the time and never read again. In memory where that leaves the machine as
 * much again as the `bytes` it may come to; else a `tempFolder`.
 */
export function quickFolder(name: string, bytes: number): string {
  return hasMemoryFor(bytes) ? realpathSync(mkdtempSync(join(IN_MEMORY, `methods-test-${name}-`))) : tempFolder(name);
}

function hasMemoryFor(bytes: number): boolean {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    // Of a container; without a bound it is 0 or beyond what there is.
    const bound = process.constrainedMemory() || Number.POSITIVE_INFINITY;
    return bavail * bsize >= bytes && Math.min(freemem(), bound) >= 2 * bytes;
  } catch {
    return false;
  }
}
