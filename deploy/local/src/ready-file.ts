// Lets other programs of the same user find running stacks: one file each, readable only by that user.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { OrgId } from '@methods/base/ids';

/** Replaces an earlier line of the same stack atomically: a concurrent reader gets one of the two. */
export function writeReadyLine(line: { readonly data_dir: string }): string {
  const file = readyFileOf(line.data_dir);
  try {
    mkdirSync(readyFolder(), { recursive: true, mode: 0o700 });
    const written = `${file}.${process.pid}`;
    writeFileSync(written, `${JSON.stringify(line)}\n`, { mode: 0o600 });
    renameSync(written, file);
  } catch {
    // A user without a home folder still gets a stack, but programs do not find it.
  }
  return file;
}

export function removeReadyLine(file: string): void {
  rmSync(file, { force: true });
}

/** The lines of stacks that did not remove them: some stacks may have been killed since. */
export function dataFoldersOfStacks(): string[] {
  const folder = readyFolder();
  let names: string[];
  try {
    names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    try {
      return [String(JSON.parse(readFileSync(join(folder, name), 'utf8')).data_dir)];
    } catch {
      // Removed or replaced meanwhile.
      return [];
    }
  });
}

/** What a running stack says of itself, as far as programs beside it need it. */
export interface ReadyLine {
  readonly data_dir: string;
  readonly base_url: string;
  readonly postgres_url: string;
  readonly org_id: OrgId;
}

/** Null: the stack is not ready. */
export function readyLineOf(dataDir: string): ReadyLine | null {
  try {
    return JSON.parse(readFileSync(readyFileOf(dataDir), 'utf8')) as ReadyLine;
  } catch {
    return null;
  }
}

function readyFileOf(dataDir: string): string {
  const name = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  return join(readyFolder(), `${name}.json`);
}

function readyFolder(): string {
  return join(process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'methods', 'stacks');
}
