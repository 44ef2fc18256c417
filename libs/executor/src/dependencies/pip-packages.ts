// pip packages of a method: a virtual environment in which only files with locked hashes are installed, by a pip that
// is kept once for each Python.

import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExactPackage } from '@methods/method/compiled-method';
import type { PythonRuntime } from '../runners/python-runtime.ts';
import { StepFailure } from '../step-failure.ts';
import { type DependencyLock, type LockedPackage, type LockPlatform, pipName } from './dependency-lock.ts';
import { ensureEnvironment, hasEnvironment } from './environment-store.ts';
import { callManager } from './package-manager.ts';
import type { PrepareOptions } from './prepare-options.ts';

// We retry ourselves: an unavailable registry must be distinguished from a missing package, which only pip's log shows.
const FLAGS = ['--quiet', '--disable-pip-version-check', '--no-input', '--progress-bar', 'off', '--retries', '1'];
const HASHES_FILE = fileURLToPath(new URL('./pip-hashes.py', import.meta.url));
/** The packages of a new virtual environment with its own pip, which steps do not use. */
const TOOLS = ['pip', 'setuptools'];

/**
 * Locks the packages and everything they need, in the versions that pip chooses now, each with the hashes of all its
 * files.
 */
export async function lockPip(
  packages: readonly ExactPackage[],
  folder: string,
  options: PrepareOptions,
  python: PythonRuntime,
): Promise<Pick<DependencyLock, 'pip' | 'pipPlatform'>> {
  const shared = await sharedPip(options, python);
  if (shared === null) await checkLocksHere(options, python);
  const command = shared ?? (await makeVenv(join(folder, 'python'), options, python));
  const log = join(folder, 'pip.log');
  const context = { command, cwd: folder, what: 'pip could not find the packages', log };
  const wanted = packages.map(({ name, version }) => `${name}==${version}`);
  const choose = ['-m', 'pip', 'install', '--dry-run', '--ignore-installed', ...binariesOnly(options)];
  // In a file: on stdout it would be mixed with pip's messages about downloads.
  const report = join(folder, 'report.json');
  await callManager({ ...context, args: [...choose, ...FLAGS, '--log', log, '--report', report, ...wanted] }, options);
  const chosen = chosenIn(await readFile(report, 'utf8'));
  const asked = chosen.map(({ name, version }) => `${name}==${version}`);
  const others = await callManager({ ...context, args: ['-I', HASHES_FILE, ...asked] }, options)
    .then((text) => JSON.parse(text) as Record<string, readonly string[]>)
    // An unusual build of pip: the files of this platform are locked, which serves workers like this one.
    .catch((): Record<string, readonly string[]> => ({}));
  // In the method's spelling if it names the version: 0.30 and 0.30.0 are equal for pip.
  const spelled = new Map(packages.map(({ name, version }) => [pipName(name), version]));
  const locked = chosen.map(({ name, version, hashes }) => {
    const all = new Set([...hashes, ...(others[`${name}==${version}`] ?? [])]);
    return { name, version: spelled.get(pipName(name)) ?? version, hashes: [...all].sort() };
  });
  locked.sort((a, b) => (pipName(a.name) < pipName(b.name) ? -1 : 1));
  return { pip: locked, pipPlatform: platformOf(python) };
}

/** `final`: the later place of the folder. */
export async function installPip(
  { pip, pipPlatform }: Pick<DependencyLock, 'pip' | 'pipPlatform'>,
  folder: string,
  final: string,
  options: PrepareOptions,
  python: PythonRuntime,
): Promise<void> {
  const shared = await sharedPip(options, python);
  const own = await makeVenv(folder, options, python, shared === null ? [] : ['--without-pip']);
  const command = shared ?? own;
  const log = join(folder, 'pip.log');
  const context = { command, cwd: folder, what: 'pip could not install the packages', log };
  const requirements = join(folder, 'requirements.txt');
  const lock = pip ?? [];
  const lines = lock.map(({ name, version, hashes }) => {
    return `${name}==${version} ${hashes.map((it) => `--hash=${it}`).join(' ')}`;
  });
  await writeFile(requirements, `${lines.join('\n')}\n`);
  const into = shared === null ? [] : ['--python', own];
  const install = ['-m', 'pip', ...into, 'install', '--require-hashes', '--no-compile', ...binariesOnly(options)];
  const args = [...install, ...FLAGS, '--log', log, '--requirement', requirements];
  await callManager({ ...context, args }, options).catch((fault: unknown) => {
    throw ofAnotherPlatform(fault, pipPlatform, platformOf(python));
  });
  const unlocked = shared === null ? TOOLS.filter((tool) => !lock.some(({ name }) => pipName(name) === tool)) : [];
  const remove = ['-m', 'pip', 'uninstall', '--yes', '--disable-pip-version-check', '--quiet', ...unlocked];
  if (unlocked.length > 0) await callManager({ ...context, args: remove }, options);
  await rm(log, { force: true });
  await settleVenv(folder, final, options);
}

function platformOf({ version }: PythonRuntime): LockPlatform {
  const python = version.split('.').slice(0, 2).join('.');
  return { python, system: `${process.platform}-${process.arch}` };
}

/** pip reports hashes and missing packages even if the lock is only for another machine. */
function ofAnotherPlatform(fault: unknown, made: LockPlatform | null, here: LockPlatform): unknown {
  if (!(fault instanceof StepFailure) || !/^M70[34]:/.test(fault.message) || made === null) return fault;
  if (made.python === here.python && made.system === here.system) return fault;
  const [there, own] = [made, here].map(({ python, system }) => `Python ${python} on ${system}`);
  return new StepFailure(
    'dependency',
    `M704: the version's lock was made with ${there} and its packages do not fit ${own} here; run it on a worker with ${there}, or save a new version and let a worker like this one prepare it first (${fault.message})`,
  );
}

/** A source package runs its own code during the installation. */
function binariesOnly({ allowScripts }: PrepareOptions): string[] {
  return allowScripts ? [] : ['--only-binary', ':all:'];
}

function chosenIn(report: string): LockedPackage[] {
  const { install } = JSON.parse(report) as {
    install: readonly {
      readonly metadata: { readonly name: string; readonly version: string };
      readonly download_info: {
        readonly archive_info?: { readonly hash?: string; readonly hashes?: { readonly sha256?: string } };
      };
    }[];
  };
  return install.map(({ metadata: { name, version }, download_info: { archive_info: archive } }) => {
    const sha256 = archive?.hashes?.sha256 ?? archive?.hash?.replace(/^sha256=/, '');
    if (sha256 === undefined || !/^[0-9a-f]{64}$/.test(sha256)) {
      throw new StepFailure('dependency', `The package index gives no hash of ${name} ${version}`);
    }
    return { name, version, hashes: [`sha256:${sha256}`] };
  });
}

// pip itself, kept once for each Python in the cache folder: creating it takes seconds, and a method's own environment
// does not need it.

/** The first pip that installs into another environment. */
const INSTALLS_ELSEWHERE = [22, 3] as const;
/** The first pip that can report what it would install (`--report`). */
const LOCKS = [22, 2] as const;
const VERSION = 'import ensurepip; print(ensurepip.version())';

/**
 * Returns the interpreter of an environment with a pip that others share; null: each needs its own, since pip is older
 * than 22.3 or code of packages may run, which could change it for all. Rejects with a StepFailure of kind dependency.
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

/** Throws StepFailure of kind dependency if Python's own pip is too old to make a lock. */
async function checkLocksHere(options: PrepareOptions, python: PythonRuntime): Promise<void> {
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

// A virtual environment that is created in one folder and used in another.

const SCRIPT_BYTES_MAX = 1024 * 1024;

/** Its interpreter. */
async function makeVenv(
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
async function settleVenv(folder: string, final: string, options: PrepareOptions): Promise<void> {
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
    // No person uses it by hand.
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
