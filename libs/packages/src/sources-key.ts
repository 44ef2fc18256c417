// The state of the sources that the packages are built from.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const LIBS = fileURLToPath(new URL('../../', import.meta.url));
const SOURCE = /\.(?:ts|mjs|js|json|py|bash|toml|md|typed)$|\/bin\/step$/;
const OTHERS = /\.(?:test|fixture)\.ts$|(?:^|\/)(?:node_modules|dist|tests|__pycache__)\//;

/** Of all libraries: which of them a package needs is known only by building it. */
export async function sourcesKey(): Promise<string> {
  const names = await readdir(LIBS, { recursive: true });
  const hash = createHash('sha256');
  for (const name of names.filter((each) => SOURCE.test(each) && !OTHERS.test(each)).sort()) {
    hash.update(`${name}\0`).update(await readFile(join(LIBS, name)));
  }
  for (const name of ['package-lock.json', 'LICENSE']) hash.update(await readFile(join(LIBS, '..', name)));
  return hash.digest('hex').slice(0, 32);
}
