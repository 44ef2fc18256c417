// pip itself, kept once for each Python in the cache folder: making it takes seconds, and a method's own environment has
// no use for it.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { PythonRuntime } from '../runners/python-runtime.ts';
import { ensureEnvironment, hasEnvironment } from './environment-store.ts';
import { callManager } from './package-manager.ts';
import type { PrepareOptions } from './prepare-options.ts';
import { makeVenv } from './python-venv.ts';

/** The first pip that installs into another environment. */
const PIP_LOWEST = [22, 3] as const;
const VERSION = 'import ensurepip; print(ensurepip.version())';

/**
 * The interpreter of an environment with pip that others use too; null: each needs its own, as pip is older than 22.3 or
 * code of packages may run, which could change it for all. Rejects with a StepFailure of kind dependency.
 */
export async function sharedPip(options: PrepareOptions, python: PythonRuntime): Promise<string | null> {
  if (options.allowScripts) return null;
  const key = ['pip', process.platform, process.arch, python.version, python.executable];
  const folder = join(options.cacheDir, createHash('sha256').update(JSON.stringify(key)).digest('hex'));
  if (!(await hasEnvironment(folder)) && !(await installsElsewhere(options, python))) return null;
  await ensureEnvironment(options, folder, async (made) => {
    await makeVenv(join(made, 'python'), options, python);
  });
  return join(folder, 'python', 'bin', 'python');
}

async function installsElsewhere(options: PrepareOptions, { executable: command }: PythonRuntime): Promise<boolean> {
  const what = 'A virtual environment could not be made';
  const version = await callManager({ command, args: ['-I', '-c', VERSION], cwd: options.cacheDir, what }, options);
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > PIP_LOWEST[0] || (major === PIP_LOWEST[0] && minor >= PIP_LOWEST[1]);
}
