// Runs the commands of a guide, in a folder of its own, and returns their output.
import { spawnSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { METHODS } from '@methods/cli/cli.fixture';
import type { FencedBlock } from './fenced-blocks.ts';

export interface TypedCommand {
  readonly command: string;
  /** What the guide says it prints. */
  readonly told: string;
  readonly at: string;
}

/** `$ command` lines with what follows them. */
export function commandsOf({ text, at }: FencedBlock): TypedCommand[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf('\n');
      return { command: part.slice(0, end), told: part.slice(end + 1), at };
    });
}

export class ReaderFolder {
  /** Ids that commands printed, in order: the guide writes them as RUN_ID. */
  private runId = '';
  private readonly bin: string;

  constructor(readonly dir: string) {
    this.bin = join(dir, '.bin');
    mkdirSync(this.bin);
    const npx = `#!/bin/sh\nshift\nexec "${process.execPath}" "${METHODS}" "$@"\n`;
    writeFileSync(join(this.bin, 'npx'), npx);
    chmodSync(join(this.bin, 'npx'), 0o755);
  }

  /** `name.method` writes the file, `>> name.method` adds to it. */
  write(target: string, text: string): void {
    const added = target.startsWith('>> ');
    const path = join(this.dir, added ? target.slice(3) : target);
    if (added) appendFileSync(path, `\n${text}`);
    else writeFileSync(path, text);
  }

  /** What the command prints on both streams; run ids are written as RUN_ID, times as 0.1 s. */
  type(command: string): string {
    const run = spawnSync('bash', ['-c', `{ ${command}\n} 2>&1`], {
      cwd: this.dir,
      encoding: 'utf8',
      input: '',
      env: { PATH: `${this.bin}:${process.env.PATH}`, HOME: this.dir, RUN_ID: this.runId, LANG: 'C.UTF-8' },
    });
    this.runId = /run_[0-9a-z]+/.exec(run.stdout)?.[0] ?? this.runId;
    return run.stdout.replace(/run_[0-9a-z]{20,}/g, 'RUN_ID').replace(/\b\d+\.\d+ s\b/g, '0.1 s');
  }
}
