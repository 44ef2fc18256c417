// pip itself, kept once for each Python in the cache folder: making it takes seconds, and a method's own environment
// does not need it.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { PythonRuntime } from '../runners/python-runtime.ts';
import { StepFailure } from '../step-failure.ts';
import { ensureEnvironment, hasEnvironment } from './environment-store.ts';
import { callManager } from './package-manager.ts';
import type { PrepareOptions } from './prepare-options.ts';
import { makeVenv } from './python-venv.ts';

/** The first pip that installs into another environment. */
const INSTALLS_ELSEWHERE = [22, 3] as const;
/** The first pip that can report what it would install (`--report`). */
const LOCKS = [22, 2] as const;
const VERSION = 'import ensurepip; print(ensurepip.version())';

/**
 * The interpreter of an environment with pip that others use too; null: each needs its own, as pip is older than 22.3 or
 * code of packages may run, which could change it for all. Rejects with a StepFailure of kind dependency.
 */
export async function sharedPip(options: PrepareOptions, python: PythonRuntime): Promise<string | null> {
  if (options.allowScripts) return null;
  const key = ['pip', process.platform, process.arch, python.version, python.executable];
  const folder = join(options.cacheDir, createHash('sha256').update(JSON.stringify(key)).digest('hex'));
  if (!(await hasEnvironment(folder))) {
    if (!isAtLeast(await pipVersion(options, python), INSTALLS_ELSEWHERE)) return null;
  }
  await ensureEnvironment(options, folder, async (made) => {
    await makeVenv(join(made, 'python'), options, python);
  });
  return join(folder, 'python', 'bin', 'python');
}

/** Throws StepFailure of kind dependency where the pip that Python brings is too old to make a lock. */
export async function checkLocksHere(options: PrepareOptions, python: PythonRuntime): Promise<void> {
  const version = await pipVersion(options, python);
  if (isAtLeast(version, LOCKS)) return;
  throw new StepFailure(
    'dependency',
    `pip ${version} of Python ${python.version} cannot lock packages: pip ${LOCKS.join('.')} or later is needed, which Python 3.11 and later bring; with a lock that was made elsewhere the version runs here too`,
  );
}

async function pipVersion(options: PrepareOptions, { executable: command }: PythonRuntime): Promise<string> {
  const what = 'A virtual environment could not be made';
  return (await callManager({ command, args: ['-I', '-c', VERSION], cwd: options.cacheDir, what }, options)).trim();
}

function isAtLeast(version: string, [lowestMajor, lowestMinor]: readonly [number, number]): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > lowestMajor || (major === lowestMajor && minor >= lowestMinor);
}
