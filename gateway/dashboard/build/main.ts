// `npm run dashboard:build -- FOLDER`: builds the dashboard into the folder. `--kept ROOT`: into a folder of that one for
// the present sources, unless it is there, and prints its path.
import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { sourcesKey } from './sources-key.ts';

const UNFINISHED = 'unfinished-';
/** A build of other sources is kept this long: another checkout's start may be using it. */
const UNUSED_MS_MAX = 24 * 3_600_000;

const [first = '.', second] = process.argv.slice(2);
if (first === '--kept' && second !== undefined) console.log(await kept(second));
else await build(resolve(first));

/** Loads the bundler only where there is something to build: most starts find what they need. */
async function build(folder: string): Promise<void> {
  const { buildDashboard } = await import('./build-dashboard.ts');
  await buildDashboard(folder);
}

async function kept(root: string): Promise<string> {
  const key = await sourcesKey();
  const folder = join(root, key);
  if (!(await isThere(folder))) {
    await mkdir(root, { recursive: true });
    const unfinished = await mkdtemp(join(root, UNFINISHED));
    try {
      // Other users of the machine may start a stack too.
      await chmod(unfinished, 0o755);
      await build(unfinished);
      // Edited during the build: it is unknown which state this is.
      if ((await sourcesKey()) !== key) return kept(root);
      await rename(unfinished, folder).catch(async (error) => {
        // Another start has built the same meanwhile.
        if (!(await isThere(folder))) throw error;
      });
    } finally {
      await rm(unfinished, { recursive: true, force: true });
    }
  }
  await utimes(folder, new Date(), new Date());
  await removeOld(root, folder);
  return folder;
}

/** A folder is moved to its place whole. */
async function isThere(folder: string): Promise<boolean> {
  return (await readdir(folder).catch((): string[] => [])).includes('index.html');
}

async function removeOld(root: string, own: string): Promise<void> {
  for (const name of await readdir(root)) {
    const other = join(root, name);
    const usedMs = (await stat(other).catch(() => null))?.mtimeMs ?? Number.POSITIVE_INFINITY;
    if (other !== own && Date.now() - usedMs > UNUSED_MS_MAX) await rm(other, { recursive: true, force: true });
  }
}
