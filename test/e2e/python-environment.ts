// Python for the tests of the Python library: its dependencies come from PyPI into an environment that is kept between
// runs. Without Python or PyPI there is a reason to skip.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { tempFolder } from '../harness/temp-folder.ts';

const run = promisify(execFile);
/** What the tests of the library need, the library's own packages among it. */
export const SUITE = [
  '-r',
  fileURLToPath(new URL('../../libs/client-python/tests/requirements.txt', import.meta.url)),
] as const;
/** What its tests need that call no service. */
export const PACKAGES = ['httpx==0.28.1', 'cryptography>=38', 'pytest>=8,<9'];
const CACHE = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url));
const INSTALL_MS = 600_000;
const INSTALL = ['install', '--quiet', '--disable-pip-version-check', '--retries', '1'];
/** For what tests install; the Node of the library's extra is 60 MB. */
export const PIP_CACHE_DIR = join(CACHE, 'methods-pip');

export type Python = { readonly bin: string } | { readonly missing: string };

/** `command`: a Python with venv. `wanted`: what pip installs; folders of our own come by PYTHONPATH. */
export async function pythonWith(wanted: readonly string[], command = 'python3'): Promise<Python> {
  const env = { ...process.env, ...environmentOf(command) };
  const version = await run(command, ['-c', 'import sys, venv; print(sys.version_info >= (3, 9), sys.version)'], {
    env,
  }).catch(() => null);
  if (!version?.stdout.startsWith('True')) return { missing: `there is no ${command} of 3.9 or newer with venv` };
  const texts = wanted.map((each) => (each.endsWith('.txt') ? readFileSync(each, 'utf8') : each));
  const name = createHash('sha256')
    .update([version.stdout, ...texts].join('\n'))
    .digest('hex')
    .slice(0, 16);
  const folder = join(CACHE, `methods-venv-${name}`);
  const bin = join(folder, 'bin');
  if (existsSync(folder)) return { bin };
  // Several processes of the tests may want it at a time. What is called by `python -m` works after a move.
  const unfinished = `${folder}.${process.pid}`;
  try {
    await run(command, ['-m', 'venv', unfinished], { env });
    const options = { timeout: INSTALL_MS, env: { ...process.env, PIP_CACHE_DIR } };
    await run(join(unfinished, 'bin/python'), ['-m', 'pip', ...INSTALL, ...wanted], options);
    renameSync(unfinished, folder);
    return { bin };
  } catch (error) {
    if (existsSync(folder)) return { bin };
    const { stderr = '', killed } = error as { stderr?: string; killed?: boolean };
    if (killed === true || /No matching distribution|ensurepip|Failed to establish a new connection/.test(stderr)) {
      return { missing: `${command} has no venv, or PyPI cannot be reached in time` };
    }
    throw error;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** `env`: what its programs need. */
export type PythonVersion =
  | { readonly python: string; readonly env: Readonly<Record<string, string>> }
  | { readonly missing: string };

/** Another version, whose packages `pip` of `bin` puts in a folder: an environment of its own takes three times as long. */
export async function versionWith(wanted: readonly string[], version: string, bin: string): Promise<PythonVersion> {
  const command = `python${version}`;
  const own = { env: { ...process.env, ...environmentOf(command) } };
  const found = await run(command, ['-c', 'import sys; print(sys.executable)'], own).catch(() => null);
  if (found === null) return { missing: `there is no ${command}` };
  const python = found.stdout.trim();
  const site = tempFolder('python-site');
  const options = { timeout: INSTALL_MS, env: { ...process.env, PIP_CACHE_DIR } };
  const pip = ['-m', 'pip', '--python', python, ...INSTALL, '--target', site, '--no-compile', ...wanted];
  await run(join(bin, 'python'), pip, options);
  return { python, env: { PYTHONPATH: site } };
}

/** Where pyenv has several versions, its commands work for the version that is named. */
function environmentOf(command: string): Record<string, string> {
  const [, version] = /^python(3\.\d+)$/.exec(command) ?? [];
  return version === undefined ? {} : { PYENV_VERSION: version };
}
