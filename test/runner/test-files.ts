// Which tests there are. Node 20's runner takes no patterns, so the files are listed.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const PLACES = ['libs', 'services', 'gateway', 'deploy', 'test'];
/** Tests that start a whole system each. What they bound in time, they bound in many seconds. */
const WHOLE_SYSTEM = ['test/e2e/', 'test/cli/', 'test/cluster/'];
/** Tests that look at a system under as much load as the machine can make: these want it for themselves. */
const LOADS = ['test/chaos/chaos.test.ts', 'test/attacks/'];

export interface TestFiles {
  readonly beside: readonly string[];
  readonly wholeSystem: readonly string[];
  readonly loads: readonly string[];
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
  const found = { beside: [] as string[], wholeSystem: [] as string[], loads: [] as string[] };
  for (const file of files) {
    if (WHOLE_SYSTEM.some((place) => file.startsWith(place))) found.wholeSystem.push(file);
    else if (LOADS.some((place) => file.startsWith(place))) found.loads.push(file);
    else found.beside.push(file);
  }
  return found;
}
