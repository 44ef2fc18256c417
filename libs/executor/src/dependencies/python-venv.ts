// A virtual environment that is made in one folder and used in another.
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PythonRuntime } from '../runners/python-runtime.ts';
import { callManager } from './package-manager.ts';
import type { PrepareOptions } from './prepare-options.ts';

const SCRIPT_BYTES_MAX = 1024 * 1024;

/** Its interpreter. */
export async function makeVenv(
  folder: string,
  options: PrepareOptions,
  python: PythonRuntime,
  flags: readonly string[] = [],
): Promise<string> {
  await mkdir(folder);
  const what = 'A virtual environment could not be made';
  await callManager({ command: python.executable, args: ['-m', 'venv', ...flags, folder], cwd: folder, what }, options);
  return join(folder, 'bin', 'python');
}

/** Makes a finished environment ready to be moved to `final`. */
export async function settleVenv(folder: string, final: string, options: PrepareOptions): Promise<void> {
  // Steps do not write compiled modules; a package without them would be compiled at each start. -S: the `.pth`
  // files of packages are code that Python runs as it starts.
  const compile = ['-I', '-S', '-m', 'compileall', '-q', '-s', folder, '-p', final, join(folder, 'lib')];
  const command = join(folder, 'bin', 'python');
  // Modules that do not compile (templates, another Python's syntax) make the whole command fail.
  await callManager({ command, args: compile, cwd: folder, what: 'compileall' }, options).catch(() => {});
  options.signal?.throwIfAborted();
  const bin = join(folder, 'bin');
  for (const name of await readdir(bin)) {
    const file = join(bin, name);
    // No one uses it by hand.
    if (/^activate|^Activate/.test(name)) await rm(file);
    else if (!/^python[\d.]*$/.test(name)) await renamePlaces(file, folder, final);
  }
}

/** Scripts begin with the interpreter's absolute path. */
async function renamePlaces(file: string, from: string, to: string): Promise<void> {
  const info = await stat(file);
  if (!info.isFile() || info.size > SCRIPT_BYTES_MAX) return;
  const text = await readFile(file, 'latin1');
  if (text.includes(from)) await writeFile(file, text.replaceAll(from, to), 'latin1');
}
