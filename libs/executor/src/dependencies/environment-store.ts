// Prepared environments on the disk, shared by all processes that use the folder. Only a complete one has its final
// name; the next build removes the remains of killed builds and environments unused for weeks.
import { mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { PrepareOptions } from './prepare-options.ts';

const BUILDING = '.building-';
/** Longer than any build may take. */
const ABANDONED_MS = 3 * 3_600_000;
/** A preparation counts as a use; a process that keeps using an environment prepares it again each day. */
const UNUSED_MS = 30 * 24 * 3_600_000;

/** Builds of this process by folder, so that runs that begin together build once. */
const building = new Map<string, { readonly build: Promise<void>; readonly signal: AbortSignal | undefined }>();

/** `make` gets an empty folder, which becomes `folder`; it is not called if the environment exists. */
export async function ensureEnvironment(
  { cacheDir, signal }: Pick<PrepareOptions, 'cacheDir' | 'signal'>,
  folder: string,
  make: (made: string) => Promise<void>,
): Promise<void> {
  while (!(await hasEnvironment(folder))) {
    const known = building.get(folder);
    if (known === undefined) {
      const build = buildEnvironment(cacheDir, folder, make).finally(() => building.delete(folder));
      building.set(folder, { build, signal });
      return build;
    }
    await known.build.catch((error: unknown) => {
      // The run that began it was stopped; others still wait for it.
      if (known.signal?.aborted !== true || signal?.aborted === true) throw error;
    });
  }
}

/** Also marks it as in use. */
export async function hasEnvironment(folder: string): Promise<boolean> {
  const now = new Date();
  try {
    await utimes(folder, now, now);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** If another process was first, its environment stays. */
async function buildEnvironment(
  cacheDir: string,
  folder: string,
  make: (made: string) => Promise<void>,
): Promise<void> {
  await inTemporaryFolder(cacheDir, async (temporary) => {
    const made = join(temporary, 'environment');
    await mkdir(made);
    await make(made);
    await rename(made, folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  });
}

/** On the same file system as the cache, so that the result can be renamed into it. */
export async function inTemporaryFolder<T>(cacheDir: string, work: (folder: string) => Promise<T>): Promise<T> {
  await mkdir(cacheDir, { recursive: true });
  await removeOld(cacheDir);
  const folder = await mkdtemp(join(cacheDir, BUILDING));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function removeOld(cacheDir: string): Promise<void> {
  for (const name of await readdir(cacheDir)) {
    const isBuilding = name.startsWith(BUILDING);
    if (!isBuilding && !/^[0-9a-f]{64}$/.test(name)) continue;
    const path = join(cacheDir, name);
    // Null: another process that builds now was faster.
    const info = await stat(path).catch(() => null);
    if (info === null || Date.now() - info.mtimeMs < (isBuilding ? ABANDONED_MS : UNUSED_MS)) continue;
    // Renamed first, so that no process finds half an environment.
    const old = isBuilding ? path : join(cacheDir, `${BUILDING}old-${name}`);
    if (!isBuilding) await rename(path, old).catch(() => {});
    await rm(old, { recursive: true, force: true });
  }
}
