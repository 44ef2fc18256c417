// `npm run packages -- FOLDER`: builds the libraries of applications into the folder, as npm and pip install them.
// `--kept ROOT`: into a folder of that one for the present sources, unless it is there, and prints its path.
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pack } from '@methods/client/pack/pack-client';
import { buildWheel } from './python-wheel.ts';
import { sourcesKey } from './sources-key.ts';

const [first = '.', second] = process.argv.slice(2);
if (first === '--kept' && second !== undefined) console.log(await kept(second));
else await buildPackages(resolve(first));

async function kept(root: string): Promise<string> {
  const folder = join(root, await sourcesKey());
  if (await isWhole(folder)) return folder;
  await mkdir(root, { recursive: true });
  const unfinished = await mkdtemp(join(root, 'unfinished-'));
  try {
    await buildPackages(unfinished);
    await rename(unfinished, folder).catch(async (error) => {
      // Another start has built the same meanwhile.
      if (!(await isWhole(folder))) throw error;
    });
    for (const name of await readdir(root)) {
      const other = join(root, name);
      if (other !== folder && !name.startsWith('unfinished-')) await rm(other, { recursive: true, force: true });
    }
    return folder;
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** A folder is moved to its place whole. */
async function isWhole(folder: string): Promise<boolean> {
  return (await readdir(folder).catch(() => [])).length === 2;
}

async function buildPackages(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const scratch = await mkdtemp(join(tmpdir(), 'methods-packages-'));
  try {
    await Promise.all([pack(folder), buildWheel(folder, join(scratch, 'worker'))]);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
