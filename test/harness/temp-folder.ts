// A folder for one test process.
import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function tempFolder(name: string): string {
  return realpathSync(mkdtempSync(join(tmpdir(), `methods-test-${name}-`)));
}
