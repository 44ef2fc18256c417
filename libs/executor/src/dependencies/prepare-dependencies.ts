// Prepares a method's `dependencies` on this machine: once for each lock, platform and set of runtimes.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { CompiledMethod, MethodDependencies } from '@methods/method/compiled-method';
import { PLAIN_ENVIRONMENT, type PreparedEnvironment } from '../prepared-environment.ts';
import { type PythonRuntime, PythonRuntimes } from '../runners/python-runtime.ts';
import { StepFailure } from '../step-failure.ts';
import { type DependencyLock, lockBytes, readLock } from './dependency-lock.ts';
import { ensureEnvironment, inTemporaryFolder } from './environment-store.ts';
import { findCommand } from './find-command.ts';
import { installNpm, lockNpm } from './npm-packages.ts';
import { installPip, lockPip } from './pip-packages.ts';
import type { PrepareOptions } from './prepare-options.ts';

export interface PreparedDependencies {
  readonly environment: PreparedEnvironment;
  /** The lock to store with the version, once; a given one is returned; null: there is nothing to lock. */
  readonly lock: Uint8Array | null;
  /** SHA-256 of the lock's bytes, hex, as a run's record names it. */
  readonly lockSha256: string | null;
}

const ownPythons = new PythonRuntimes();

/**
 * Rejects with a StepFailure of kind dependency: a command, runtime or package is missing, or a package differs from
 * its lock. Does not use the disk if the method names no packages.
 */
export async function prepareDependencies(
  method: Pick<CompiledMethod, 'dependencies'>,
  options: PrepareOptions,
): Promise<PreparedDependencies> {
  const { dependencies } = method;
  const python = await checkRuntimes(dependencies, options);
  if (dependencies.npm.length === 0 && dependencies.pip.length === 0) {
    return { environment: PLAIN_ENVIRONMENT, ...named(options.lock ?? null) };
  }
  try {
    return await preparePackages(dependencies, options, python);
  } catch (error) {
    // The folder is full, no folder or not ours: the next attempt of the run would meet the same.
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    throw new StepFailure('dependency', `The cache folder of packages cannot be used: ${code}`);
  }
}

async function preparePackages(
  dependencies: MethodDependencies,
  options: PrepareOptions,
  python: PythonRuntime | null,
): Promise<PreparedDependencies> {
  const { lock: given } = options;
  const lock = given === undefined ? await makeLock(dependencies, options, python) : readLock(given, dependencies);
  const bytes = lockBytes(lock);
  const folder = join(options.cacheDir, environmentKey(bytes, python, options.allowScripts));
  await ensureEnvironment(options, folder, async (made) => {
    if (lock.npm !== null) await installNpm(lock.npm, join(made, 'node'), options);
    if (lock.pip !== null && python !== null) {
      await installPip(lock, join(made, 'python'), join(folder, 'python'), options, python);
    }
  });
  return { environment: environmentIn(folder, lock, python), ...named(given ?? bytes) };
}

function named(lock: Uint8Array | null): Pick<PreparedDependencies, 'lock' | 'lockSha256'> {
  return { lock, lockSha256: lock === null ? null : createHash('sha256').update(lock).digest('hex') };
}

/** The interpreter, where the method uses one. */
async function checkRuntimes(
  { commands, node, python: lowest, pip }: MethodDependencies,
  { path, pythons = ownPythons }: PrepareOptions,
): Promise<PythonRuntime | null> {
  for (const command of commands) findCommand(path, command);
  if (node !== null) checkVersion('Node.js', process.versions.node, node);
  if (lowest === null && pip.length === 0) return null;
  const python = await pythons.get(PLAIN_ENVIRONMENT.pythonCommand, path);
  if (lowest !== null) checkVersion('Python', python.version, lowest);
  return python;
}

function makeLock(
  { npm, pip }: MethodDependencies,
  options: PrepareOptions,
  python: PythonRuntime | null,
): Promise<DependencyLock> {
  return inTemporaryFolder(options.cacheDir, async (folder) => ({
    npm: npm.length === 0 ? null : await lockNpm(npm, folder, options),
    ...(python === null || pip.length === 0
      ? { pip: null, pipPlatform: null }
      : await lockPip(pip, folder, options, python)),
  }));
}

function environmentIn(folder: string, lock: DependencyLock, python: PythonRuntime | null): PreparedEnvironment {
  const nodePath = lock.npm === null ? null : join(folder, 'node', 'node_modules');
  const paths: string[] = [];
  if (nodePath !== null) paths.push(join(nodePath, '.bin'));
  if (lock.pip !== null) paths.push(join(folder, 'python', 'bin'));
  return {
    nodePath,
    pythonCommand: lock.pip === null ? PLAIN_ENVIRONMENT.pythonCommand : join(folder, 'python', 'bin', 'python'),
    path: paths.join(':'),
    // The venv's python is a link to the installation: commands of packages need both, also in shell steps.
    folders: [folder, ...(lock.pip === null ? [] : (python?.folders ?? []))],
  };
}

/** SHA-256 over everything an installed package may depend on: the lock, the platform and the runtimes. */
function environmentKey(lock: Uint8Array, python: PythonRuntime | null, allowScripts: boolean): string {
  const { platform, arch, versions } = process;
  const runtimes = [platform, arch, versions.node, python?.version ?? null, python?.executable ?? null, allowScripts];
  return createHash('sha256').update(lock).update(JSON.stringify(runtimes)).digest('hex');
}

// Compares the runtime of this machine with the lowest version that a method requires.

/** Throws StepFailure of kind dependency when `has` (`20.19.2`) is lower than `needs` (`20`, `3.11`). */
function checkVersion(runtime: string, has: string, needs: string): void {
  const present = has.split('.').map(Number);
  for (const [i, part] of needs.split('.').map(Number).entries()) {
    const own = present[i] ?? 0;
    if (own > part) return;
    if (own < part) {
      throw new StepFailure('dependency', `The method needs ${runtime} ${needs} or later; this worker has ${has}`);
    }
  }
}
