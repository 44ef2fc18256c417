// The inputs of built code: the sources of the checkout and the packages installed beside it. Its key changes with any
// of them. They are read whole: modification times say too little after a checkout of another branch, and reading takes
// only 50 ms.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDERS = ['libs', 'services', 'gateway', 'deploy'];
const SKIPPED = new Set(['node_modules', 'dist']);
/** Of browsers, which get it built in another way. */
const OF_BROWSERS = 'gateway/dashboard/src';
const CODE = /\.(ts|js|mjs|json)$/;
const OF_TESTS = /\.(test|fixture)\.ts$/;
/** The packages that npm installed, by its own record; a folder that npm did not create has none. */
const PACKAGES = ['package-lock.json', 'node_modules/.package-lock.json'];

/**
 * `files`: paths from `root` with forward slashes, sorted.
 * @param {string} root
 * @returns {{ key: string, files: string[] }}
 */
export function readSources(root) {
  const files = FOLDERS.flatMap((folder) => filesBelow(root, folder)).sort();
  // Built code contains the location of its sources.
  const hash = createHash('sha256').update(root);
  for (const file of [...files, ...PACKAGES]) {
    const text = textOf(join(root, file));
    hash.update(`\0${file}\0${text?.length ?? 'absent'}\0`).update(text ?? '');
  }
  return { key: hash.digest('hex').slice(0, 32), files };
}

function filesBelow(root, folder) {
  return entriesOf(join(root, folder)).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return SKIPPED.has(entry.name) || path === OF_BROWSERS ? [] : filesBelow(root, path);
    return CODE.test(path) && !OF_TESTS.test(path) ? [path] : [];
  });
}

function entriesOf(path) {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

function textOf(path) {
  try {
    return readFileSync(path);
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}
