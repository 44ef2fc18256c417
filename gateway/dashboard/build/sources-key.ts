// The state of the sources that the dashboard is built from: its own, and those of the libraries it imports.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const OTHERS = /\.(?:test|fixture)\.tsx?$|(?:^|\/)(?:node_modules|README\.md)(?:\/|$)/;

export async function sourcesKey(): Promise<string> {
  const hash = createHash('sha256');
  for (const folder of ['gateway/dashboard', ...(await importedLibraries())]) {
    const names = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true });
    const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    for (const file of files.filter((each) => !OTHERS.test(each.slice(ROOT.length))).sort()) {
      hash
        .update(`${file.slice(ROOT.length)}\0`)
        .update(await readFile(file))
        .update('\0');
    }
  }
  hash.update(await readFile(join(ROOT, 'package-lock.json')));
  return hash.digest('hex').slice(0, 32);
}

/** Folders of the libraries of this repository that the dashboard needs, and those that they need. */
async function importedLibraries(): Promise<string[]> {
  const found = new Set<string>();
  const waiting = ['gateway/dashboard'];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const { dependencies = {} } = JSON.parse(await readFile(join(ROOT, folder, 'package.json'), 'utf8'));
    for (const name of Object.keys(dependencies)) {
      const library = name.replace(/^@methods\//, 'libs/');
      if (library === name || found.has(library)) continue;
      found.add(library);
      waiting.push(library);
    }
  }
  return [...found].sort();
}
