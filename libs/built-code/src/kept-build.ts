// A folder of builds, one for each state of the sources, which is kept from start to start.
import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';

/** A build of other sources is kept this long: a running stack, or another checkout's start, may be using it. */
const UNUSED_MS_MAX = 24 * 3_600_000;

export interface KeptBuildOptions {
  /** The state of the sources, as the name of a folder. */
  readonly sourcesKey: () => Promise<string>;
  readonly build: (folder: string) => Promise<void>;
  /** Whether these are the files of a build: a folder is moved to its place whole. */
  readonly isWhole: (names: readonly string[]) => boolean;
}

/** Builds the present sources into a folder of `root`, unless it is there. Returns the folder's path. */
export async function keptBuild(root: string, options: KeptBuildOptions): Promise<string> {
  const { sourcesKey, build, isWhole } = options;
  const isThere = async (path: string) => isWhole(await readdir(path).catch((): string[] => []));
  const key = await sourcesKey();
  const folder = join(root, key);
  if (!(await isThere(folder))) {
    await mkdir(root, { recursive: true });
    const unfinished = await mkdtemp(join(root, 'unfinished-'));
    try {
      // Made for its owner only; starts of other users serve it too.
      await chmod(unfinished, 0o755);
      await build(unfinished);
      // Edited during the build: it is unknown which state this is.
      if ((await sourcesKey()) !== key) return keptBuild(root, options);
      await rename(unfinished, folder).catch(async (error) => {
        // Another start has built the same meanwhile.
        if (!(await isThere(folder))) throw error;
      });
    } finally {
      await rm(unfinished, { recursive: true, force: true });
    }
  }
  await utimes(folder, new Date(), new Date());
  await removeUnused(root, folder);
  return folder;
}

async function removeUnused(root: string, own: string): Promise<void> {
  for (const name of await readdir(root)) {
    const other = join(root, name);
    const usedMs = (await stat(other).catch(() => null))?.mtimeMs ?? Number.POSITIVE_INFINITY;
    if (other !== own && Date.now() - usedMs > UNUSED_MS_MAX) await rm(other, { recursive: true, force: true });
  }
}
