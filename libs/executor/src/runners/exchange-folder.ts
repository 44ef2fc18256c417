// The folder a step's process shares with the worker: `work` is the step's, `code` holds what was made of its text,
// `in` what it may only read.
import {
  constants,
  copyFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { removeFolder } from '@methods/content/folder/remove-folder';
import { isJsonObject, type JsonValue } from '@methods/method/json';
import { giveFolder, type StepUser, writeUserFiles } from './step-user.ts';

export class ExchangeFolder {
  readonly dir: string;
  readonly workDir: string;
  readonly codeDir: string;
  private readonly inDir: string;
  private hasIn = false;

  /**
   * `nodePath`: the prepared packages; code in the folder finds them by walking up, as in any project. `user`: who the
   * steps are; null: the worker's own user. The folder that it is made in is closed to others.
   */
  constructor(
    dir: string,
    nodePath: string | null,
    readonly user: StepUser | null,
  ) {
    for (const name of ['work', 'code', 'in']) mkdirSync(join(dir, name), { recursive: true, mode: 0o755 });
    // Runners compare with their cwd, which has no links.
    this.dir = realpathSync(dir);
    this.workDir = join(this.dir, 'work');
    this.codeDir = join(this.dir, 'code');
    this.inDir = join(this.dir, 'in');
    if (user !== null) {
      for (const own of [this.workDir, this.codeDir]) giveFolder(user, own);
      writeUserFiles(user, this.dir, this.workDir);
    }
    if (nodePath !== null) symlinkSync(nodePath, join(this.dir, 'node_modules'));
  }

  /** Where `STEP_IN` leads. */
  writeValues(names: readonly string[], values: readonly JsonValue[]): string {
    const file = join(this.inDir, 'in.json');
    this.hasIn = true;
    rmSync(file, { force: true });
    writeFileSync(file, JSON.stringify(Object.fromEntries(names.map((name, i) => [name, values[i]]))));
    return file;
  }

  /** The same values with their files in this folder, where a sandbox can see them. Throws when one is not there. */
  withFiles(values: readonly JsonValue[], files: readonly string[]): readonly JsonValue[] {
    if (files.length === 0) return values;
    this.hasIn = true;
    const placed = new Map<string, string>();
    for (const file of files) {
      if (placed.has(file)) continue;
      const dir = join(this.inDir, String(placed.size));
      mkdirSync(dir, { mode: 0o755 });
      const target = join(dir, basename(file));
      try {
        linkSync(file, target);
      } catch {
        copyFileSync(file, target, constants.COPYFILE_FICLONE);
      }
      placed.set(file, target);
    }
    return values.map((value) => replacePaths(value, placed));
  }

  /** After a step: the next must not find what this one was given. */
  clearIn(): void {
    if (!this.hasIn) return;
    this.hasIn = false;
    // Not the folder itself: it is mounted in a sandbox.
    for (const name of readdirSync(this.inDir)) rmSync(join(this.inDir, name), { recursive: true, force: true });
  }

  remove(): void {
    removeFolder(this.dir).catch(() => {});
  }
}

function replacePaths(value: JsonValue, placed: ReadonlyMap<string, string>): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (!isJsonObject(value)) return value.map((item) => replacePaths(item, placed));
  const target =
    typeof value.path === 'string' && typeof value.sha256 === 'string' ? placed.get(value.path) : undefined;
  const members = Object.entries(value).map(([name, member]) => [name, replacePaths(member, placed)] as const);
  return { ...Object.fromEntries(members), ...(target === undefined ? {} : { path: target }) };
}
