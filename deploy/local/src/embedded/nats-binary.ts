// Finds nats-server: no npm package contains it, so it is looked up and, on Debian and Ubuntu, fetched.
import { execFile } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { withLockFile } from '@methods/base/lock-file';
import { StackError } from './stack-error.ts';

const run = promisify(execFile);

const LOCK_WAIT_MAX_MS = 600_000;

const HOW_TO_GET_IT =
  'put a nats-server (2.9 or newer, https://nats.io/download) on PATH, or name a running one in NATS_URL';

/**
 * Returns the path of a nats-server: on PATH, in /usr/sbin, /usr/local/bin, or the user's cache folder; null when there
 * is none.
 */
export function findNatsServer(env: NodeJS.ProcessEnv = process.env): string | null {
  const folders = [...(env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/bin', cacheFolder(env)];
  for (const folder of folders) {
    if (folder === '') continue;
    const path = join(folder, 'nats-server');
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not here.
    }
  }
  return null;
}

/** Installs and returns the path. Several processes may call it at once. Throws StackError `install_failed`. */
export async function installNatsServer(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  if (!existsSync('/usr/bin/apt-get')) {
    throw new StackError('install_failed', `This machine has no apt-get: ${HOW_TO_GET_IT}.`);
  }
  const folder = cacheFolder(env);
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new StackError('install_failed', `The cache folder ${folder} cannot be made: ${HOW_TO_GET_IT}.`, {
      cause: error,
    });
  }
  const lock = join(folder, 'install.lock');
  const tooLong = () => new StackError('install_failed', `The lock ${lock} is held by another process: remove it.`);
  return withLockFile(lock, { waitMaxMs: LOCK_WAIT_MAX_MS, againMs: 100, tooLong }, async () => {
    // A process that waited for the lock finds what its holder installed.
    const there = findNatsServer(env);
    if (there) return there;
    try {
      if (process.getuid?.() === 0) await installPackage(env);
      else await unpackPackage(env, folder);
    } catch (error) {
      throw new StackError('install_failed', `nats-server could not be installed by apt-get: ${HOW_TO_GET_IT}.`, {
        cause: error,
      });
    }
    const installed = findNatsServer(env);
    if (installed) return installed;
    throw new StackError('install_failed', `apt-get installed no nats-server: ${HOW_TO_GET_IT}.`);
  });
}

async function installPackage(env: NodeJS.ProcessEnv): Promise<void> {
  const quiet = { env: { ...env, DEBIAN_FRONTEND: 'noninteractive' }, timeout: 300_000 };
  const install = ['-o', 'DPkg::Lock::Timeout=120', 'install', '-y', '--no-install-recommends', 'nats-server'];
  try {
    await run('apt-get', install, quiet);
  } catch {
    // Images come without package lists.
    await run('apt-get', ['update'], quiet);
    await run('apt-get', install, quiet);
  }
}

/** Without root: fetches the package with separate lists and unpacks it; nothing is installed. */
async function unpackPackage(env: NodeJS.ProcessEnv, folder: string): Promise<void> {
  const work = mkdtempSync(join(folder, 'fetch-'));
  try {
    const state = join(work, 'state');
    const cache = join(work, 'cache');
    mkdirSync(join(state, 'lists', 'partial'), { recursive: true });
    mkdirSync(join(cache, 'archives', 'partial'), { recursive: true });
    const own = [
      '-o',
      `Dir::State=${state}`,
      '-o',
      'Dir::State::status=/var/lib/dpkg/status',
      '-o',
      `Dir::Cache=${cache}`,
    ];
    const options = { cwd: work, env, timeout: 300_000 };
    await run('apt-get', [...own, 'update'], options);
    await run('apt-get', [...own, 'download', 'nats-server'], options);
    const archive = readdirSync(work).find((name) => name.endsWith('.deb'));
    if (!archive) throw new StackError('install_failed', 'apt-get downloaded nothing');
    const unpacked = join(work, 'unpacked');
    await run('dpkg-deb', ['-x', join(work, archive), unpacked], options);
    const binary = join(unpacked, 'usr', 'sbin', 'nats-server');
    chmodSync(binary, 0o755);
    // A rename shows the whole file or none.
    renameSync(binary, join(folder, 'nats-server'));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function cacheFolder(env: NodeJS.ProcessEnv): string {
  const base = env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache');
  return join(base, 'methods', 'nats-server');
}
