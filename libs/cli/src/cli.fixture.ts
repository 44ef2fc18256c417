// The real command in a folder of its own, for tests.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { CalledProgram } from './called-program.ts';
import { readConfig } from './config.ts';

/** The checkout's command, or the packed one that the test runner has built, which starts in a tenth of the time. */
export const METHODS =
  readConfig().variables.get('METHODS_TEST_CLI') ?? fileURLToPath(new URL('../bin/methods.mjs', import.meta.url));
const TIME_MAX_MS = 180_000;

export interface CliEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class CliFolder {
  private constructor(readonly dir: string) {}

  static async make(files: Readonly<Record<string, string>> = {}): Promise<CliFolder> {
    const folder = new CliFolder(await realpath(await mkdtemp(join(tmpdir(), 'methods-cli-'))));
    for (const [name, text] of Object.entries(files)) await folder.write(name, text);
    return folder;
  }

  write(name: string, text: string): Promise<void> {
    return writeFile(join(this.dir, name), text);
  }

  read(name: string): Promise<string> {
    return readFile(join(this.dir, name), 'utf8');
  }

  async remove(): Promise<void> {
    await rm(this.dir, { recursive: true, force: true });
  }

  /** The ids of the runs kept here. */
  async runs(): Promise<string[]> {
    return (await readdir(join(this.dir, '.methods', 'runs')).catch(() => [])).sort();
  }

  /** `command`: another build of it. `stdout`: an open file. */
  spawn(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    { command = METHODS, stdout = 'pipe' }: { readonly command?: string; readonly stdout?: 'pipe' | number } = {},
  ): ChildProcess {
    const PATH = readConfig().path;
    return spawn(process.execPath, [command, ...args], {
      cwd: this.dir,
      env: { PATH, HOME: this.dir, ...env },
      stdio: ['ignore', stdout, 'pipe'],
    });
  }

  /** Runs the command to its end. */
  async methods(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<CliEnd> {
    return ended(this.spawn(args, env));
  }

  /** Returns the single document of `--json`. */
  async json<T>(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<CliEnd & { document: T }> {
    return documentOf(await this.methods([...args, '--json'], env));
  }

  /**
   * Runs the command to its end. A command runs in a separate process if it runs steps, and the first time it is
   * called; later it runs inside this process, since starting one takes longer than most commands. Not for tests about
   * processes, such as locks.
   */
  async quick(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<CliEnd> {
    const [name = ''] = args;
    if (ownProcess.has(name) && !RUN_STEPS.has(name)) return this.inside(args, env);
    ownProcess.add(name);
    return this.methods(args, env);
  }

  /** The same, with the one document of `--json`. */
  async quickJson<T>(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<CliEnd & { document: T }> {
    return documentOf(await this.quick([...args, '--json'], env));
  }

  private async inside(args: readonly string[], env: Readonly<Record<string, string>>): Promise<CliEnd> {
    const said = { stdout: new Said(), stderr: new Said() };
    const interrupt = AbortSignal.timeout(TIME_MAX_MS);
    const program = new CalledProgram(args, {
      streams: { stdin: new PassThrough().end(), ...said } as unknown as NodeJS.Process,
      cwd: this.dir,
      config: readConfig({ PATH: readConfig().path, HOME: this.dir, ...env }),
      interrupted: interrupt,
    });
    const code = await program.run();
    return { code, stdout: said.stdout.text, stderr: said.stderr.text };
  }
}

/** These leave child processes behind, which end with theirs. */
const RUN_STEPS = new Set(['run', 'test', 'worker', 'dev']);
/** Commands that have run in a separate process. */
const ownProcess = new Set<string>();

class Said extends Writable {
  text = '';

  constructor() {
    super({ decodeStrings: false });
  }

  override _write(chunk: string | Buffer, _: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

function documentOf<T>(end: CliEnd): CliEnd & { document: T } {
  try {
    return { ...end, document: JSON.parse(end.stdout) as T };
  } catch {
    throw new Error(`no JSON document: ${end.stdout}${end.stderr}`);
  }
}

export async function ended(child: ChildProcess): Promise<CliEnd> {
  const said = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said.stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said.stderr += text;
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), TIME_MAX_MS);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  clearTimeout(timer);
  return { code, ...said };
}

/** Resolves when the child has printed the text. */
export function printed(child: ChildProcess, text: string): Promise<void> {
  let seen = '';
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      seen += chunk.toString();
      if (seen.includes(text)) resolve();
    });
    child.on('close', () => reject(new Error(`it ended without saying ${text}: ${seen}`)));
  });
}
