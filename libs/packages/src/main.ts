// `npm run packages -- FOLDER`: builds the libraries of applications into the folder, as npm and pip install them.
// `--kept ROOT`: into a folder of that one for the present sources, unless it is there, and prints its path.

import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const LIBS = fileURLToPath(new URL('../../', import.meta.url));
const SOURCE = /\.(?:ts|mjs|js|json|py|bash|toml|md|typed)$|\/bin\/step$/;
const OTHERS = /\.(?:test|fixture)\.ts$|(?:^|\/)(?:node_modules|dist|tests|__pycache__)\//;

/** A build of other sources is kept this long: the gateways of a running stack read it when they start again. */
const UNUSED_MS_MAX = 24 * 3_600_000;

const [first = '.', second] = process.argv.slice(2);
if (first === '--kept' && second !== undefined) console.log(await kept(second));
else await buildPackages(resolve(first));

async function kept(root: string): Promise<string> {
  const folder = join(root, await sourcesKey());
  if (!(await isWhole(folder))) {
    await mkdir(root, { recursive: true });
    const unfinished = await mkdtemp(join(root, 'unfinished-'));
    try {
      await buildPackages(unfinished);
      // Made for its owner only; starts of other users serve it too.
      await chmod(unfinished, 0o755);
      await rename(unfinished, folder).catch(async (error) => {
        // Another start has built the same meanwhile.
        if (!(await isWhole(folder))) throw error;
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

/** A folder is moved to its place whole. */
async function isWhole(folder: string): Promise<boolean> {
  return (await readdir(folder).catch(() => [])).length === 2;
}

/** Loads the bundler only where there is something to build: most starts find what they need. */
async function buildPackages(folder: string): Promise<void> {
  const [{ pack }, { buildWheel }] = await Promise.all([
    import('@methods/client/pack/pack-client'),
    import('./python-wheel.ts'),
  ]);
  await mkdir(folder, { recursive: true });
  const scratch = await mkdtemp(join(tmpdir(), 'methods-packages-'));
  try {
    await Promise.all([pack(folder), buildWheel(folder, join(scratch, 'worker'))]);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/**
 * The state of the sources that the packages are built from. Of all libraries: which of them a package needs is known
 * only by building it.
 */
async function sourcesKey(): Promise<string> {
  const names = await readdir(LIBS, { recursive: true });
  const hash = createHash('sha256');
  for (const name of names.filter((each) => SOURCE.test(each) && !OTHERS.test(each)).sort()) {
    hash.update(`${name}\0`).update(await readFile(join(LIBS, name)));
  }
  for (const name of ['package-lock.json', 'LICENSE']) hash.update(await readFile(join(LIBS, '..', name)));
  return hash.digest('hex').slice(0, 32);
}
