// Keeps an app's `.env` out of git: one line in the nearest `.gitignore`, only if needed.
import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { CommandError } from '../errors/command-error.ts';
import { writeWhole } from '../files/write-whole.ts';
import { reasonOf } from '../method-file/method-file.ts';
import { ENV_FILE, withLine } from './env-file.ts';

const GIT_MS_MAX = 10_000;
/** Lines that exclude `.env` from any folder above it, used if git itself is unavailable. */
const IGNORING = new Set(['.env', '.env*', '*.env', '**/.env']);

export type Ignored =
  | { readonly state: 'already' }
  | { readonly state: 'added'; readonly file: string }
  /** git tracks it: a line no longer changes anything. */
  | { readonly state: 'tracked'; readonly file: string | null };

/** `path`: the PATH on which git is found. @throws CommandError `not_written`. */
export async function ignoreEnvFile(app: string, path: string): Promise<Ignored> {
  const git = new Git(app, path);
  const tracked = (await git.run(['ls-files', '--error-unmatch', ENV_FILE])) === 0;
  const added = (await isIgnored(app, git)) ? null : await addLine(app);
  if (tracked) return { state: 'tracked', file: added };
  return added === null ? { state: 'already' } : { state: 'added', file: added };
}

async function isIgnored(app: string, git: Git): Promise<boolean> {
  const code = await git.run(['check-ignore', '--quiet', '--no-index', ENV_FILE]);
  if (code === 0 || code === 1) return code === 0;
  for (const folder of await foldersUp(app)) {
    const text = await readFile(join(folder, '.gitignore'), 'latin1').catch(() => '');
    const lines = text.split(/\r?\n/).map((line) => line.trim());
    if (lines.some((line) => IGNORING.has(line) || (folder === app && line === '/.env'))) return true;
  }
  return false;
}

async function addLine(app: string): Promise<string> {
  const candidates = (await foldersUp(app)).map((folder) => join(folder, '.gitignore'));
  let file = join(app, '.gitignore');
  for (const candidate of candidates) {
    if (!(await isThere(candidate))) continue;
    file = candidate;
    break;
  }
  try {
    const text = await readFile(file, 'latin1').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw error;
    });
    await writeWhole(file, Buffer.from(withLine(text, ENV_FILE), 'latin1'));
  } catch (error) {
    throw new CommandError('not_written', `cannot write ${file}: ${reasonOf(error as NodeJS.ErrnoException)}`);
  }
  return file;
}

/** Returns the app's folder and those above it up to the root of its repository; outside of one, only the app's. */
async function foldersUp(app: string): Promise<string[]> {
  const folders = [app];
  for (let folder = app; ; folder = dirname(folder)) {
    if (folder !== app) folders.push(folder);
    if (await isThere(join(folder, '.git'))) return folders;
    if (dirname(folder) === folder) return [app];
  }
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

class Git {
  constructor(
    private readonly folder: string,
    private readonly path: string,
  ) {}

  /** Returns the exit code; null: git is missing, or did not end. */
  async run(args: readonly string[]): Promise<number | null> {
    // A repository may name a program to watch its files, which must not be started here.
    const all = ['-c', 'core.fsmonitor=false', '-C', this.folder, ...args];
    try {
      await promisify(execFile)('git', all, { env: { PATH: this.path, LC_ALL: 'C' }, timeout: GIT_MS_MAX });
      return 0;
    } catch (error) {
      const { code } = error as { code?: unknown };
      return typeof code === 'number' ? code : null;
    }
  }
}
