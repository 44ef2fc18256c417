// `npm run packages -- FOLDER`: builds the libraries of applications into the folder, as npm and pip install them.
// `--kept ROOT`: into a folder of that one for the present sources, unless it is there, and prints its path.

import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { keptBuild } from '@methods/built-code/kept-build';

const LIBS = fileURLToPath(new URL('../../', import.meta.url));
const SOURCE = /\.(?:ts|mjs|js|json|py|bash|toml|md|typed)$|\/bin\/step$/;
const OTHERS = /\.(?:test|fixture)\.ts$|(?:^|\/)(?:node_modules|dist|tests|__pycache__)\//;

const PACKAGES = {
  sourcesKey,
  build: buildPackages,
  isWhole: (names: readonly string[]) => names.length === 2,
};

const [first = '.', second] = process.argv.slice(2);
if (first === '--kept' && second !== undefined) console.log(await keptBuild(second, PACKAGES));
else await buildPackages(resolve(first));

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
