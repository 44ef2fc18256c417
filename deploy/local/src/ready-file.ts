// Where running stacks are found by other programs of the same user: one file each, readable by that user alone.
import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export function writeReadyLine(line: { readonly data_dir: string }): string {
  const folder = join(process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'methods', 'stacks');
  const name = createHash('sha256').update(line.data_dir).digest('hex').slice(0, 16);
  const file = join(folder, `${name}.json`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  } catch {
    // A user without a home still gets a stack; it is only not found by itself.
  }
  return file;
}

export function removeReadyLine(file: string): void {
  rmSync(file, { force: true });
}
