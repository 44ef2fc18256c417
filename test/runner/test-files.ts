// Which tests there are. Node 20's runner takes no patterns, so the files are listed.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const PLACES = ['libs', 'services', 'gateway', 'deploy', 'test'];
/** Tests that start whole systems: these want the machine for themselves. */
const WHOLE_SYSTEM = ['test/cluster/', 'test/e2e/'];

export interface TestFiles {
  readonly beside: readonly string[];
  readonly wholeSystem: readonly string[];
}

/** Paths from `root`, in order; with `filters`, only those that contain one of them. */
export function findTestFiles(root: string, filters: readonly string[]): TestFiles {
  const files = PLACES.filter((place) => existsSync(join(root, place)))
    .flatMap((place) =>
      readdirSync(join(root, place), { recursive: true, encoding: 'utf8' }).map((f) => `${place}/${f}`),
    )
    .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules/'))
    .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
    .sort();
  const isWholeSystem = (file: string) => WHOLE_SYSTEM.some((folder) => file.startsWith(folder));
  return { beside: files.filter((file) => !isWholeSystem(file)), wholeSystem: files.filter(isWholeSystem) };
}
