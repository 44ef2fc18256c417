// Owns the folder that a step's process shares with the worker: `work` belongs to the step, `code` holds what was
// generated from its text, `in` holds files it may only read.
import {
  constants,
  copyFileSync,
  linkSync,
  mkdirSync,
  realpathSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { type EntryName, FolderHandle } from '@methods/content/folder/folder-handle';
import { removeFolder } from '@methods/content/folder/remove-folder';
import { isJsonObject, type JsonValue } from '@methods/method/json';
import { giveFolder, type StepUser, writeUserFiles } from './step-user.ts';

const VALUES = 'in.json';

interface PlacedValues {
  readonly values: readonly JsonValue[];
  /** Numbers the files in this folder. */
  readonly paths: ReadonlySet<string>;
}

export class ExchangeFolder {
  readonly dir: string;
  readonly workDir: string;
  readonly codeDir: string;
  private readonly inDir: string;
  /** Held open: without a sandbox, a step can replace the folder by a link. */
  private readonly in: FolderHandle;
  private hasValues = false;
  /** The given files, by the name of their folder below `in`. */
  private given: string[] = [];

  /**
   * `nodePath`: the prepared packages; code in the folder finds them by walking up, as in any project. `user`: the
   * system user of the steps; null: the worker's own. The parent folder is closed to other users.
   */
  constructor(
    dir: string,
    nodePath: string | null,
    readonly user: StepUser | null,
  ) {
    for (const name of ['work', 'code', 'in']) mkdirSync(join(dir, name), { recursive: true, mode: 0o755 });
    // Runners compare paths with their cwd, which contains no links.
    this.dir = realpathSync(dir);
    this.workDir = join(this.dir, 'work');
    this.codeDir = join(this.dir, 'code');
    this.inDir = join(this.dir, 'in');
    this.in = FolderHandle.open(this.inDir);
    if (user !== null) {
      for (const own of [this.workDir, this.codeDir]) giveFolder(user, own);
      writeUserFiles(user, this.dir, this.workDir);
    }
    if (nodePath !== null) symlinkSync(nodePath, join(this.dir, 'node_modules'));
  }

  /** The target of `STEP_IN`. */
  writeValues(names: readonly string[], values: readonly JsonValue[]): string {
    this.clearValues();
    this.hasValues = true;
    const text = JSON.stringify(Object.fromEntries(names.map((name, i) => [name, values[i]])));
    writeFileSync(this.in.at(VALUES), text, { flag: 'wx' });
    return join(this.inDir, VALUES);
  }

  /**
   * Returns the values with their files linked into this folder, where a sandbox can see them. Throws when a file is
   * missing.
   */
  withFiles(values: readonly JsonValue[], files: readonly string[]): PlacedValues {
    const placed = new Map<string, string>();
    for (const file of files) {
      const number = String(this.given.length);
      const name = basename(file);
      const folder = this.in.ensureFolder(number, 0o755);
      this.given.push(name);
      try {
        const target = folder.at(name);
        try {
          linkSync(file, target);
        } catch {
          copyFileSync(file, target, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
        }
      } finally {
        folder.close();
      }
      placed.set(file, join(this.inDir, number, name));
    }
    const paths = new Set(placed.values());
    return { values: files.length === 0 ? values : values.map((value) => replacePaths(value, placed)), paths };
  }

  /**
   * Called after a step: the next step must not find what this one was given. False: some of it could not be removed.
   */
  isCleared(): boolean {
    try {
      this.clearValues();
      for (const [number, name] of this.given.entries()) {
        const folder = this.in.folder(String(number));
        unlinkGone(folder.at(name));
        folder.close();
        rmdirSync(this.in.at(String(number)));
      }
      this.given = [];
      return true;
    } catch {
      return false;
    }
  }

  remove(): void {
    this.in.close();
    removeFolder(this.dir).catch(() => {});
  }

  private clearValues(): void {
    if (!this.hasValues) return;
    this.hasValues = false;
    unlinkGone(this.in.at(VALUES));
  }
}

/** A step that runs as the worker's own user may have removed the files it was given. */
function unlinkGone(place: EntryName): void {
  try {
    unlinkSync(place);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
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
