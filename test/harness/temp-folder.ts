// Folders of tests: one for a test process, and one that they share.
import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where tests of dependencies keep one pip for all of them; undefined: no test runner gave them a place. */
export function pipFolder(): string | undefined {
  return process.env.METHODS_TEST_PIP;
}

export function tempFolder(name: string): string {
  return realpathSync(mkdtempSync(join(tmpdir(), `methods-test-${name}-`)));
}
