// Which tests there are. Node 20's runner takes no patterns, so the files are listed.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const PLACES = ['libs', 'services', 'gateway', 'deploy', 'test'];
/** Tests that start a whole system each. */
const WHOLE_SYSTEM = ['test/e2e/', 'test/cli/'];
/** Tests that measure how soon a system gets over a fault: these want the machine for themselves. */
const FAULTS = ['test/cluster/', 'test/chaos/chaos.test.ts', 'test/attacks/'];
/** They count attempts and runs; what they bound in time, they bound in many seconds. */
const PATIENT_FAULTS = [
  ...['test/cluster/any-process-killed.test.ts', 'test/cluster/cancelled.test.ts', 'test/cluster/nats-away.test.ts'],
  ...['test/cluster/one-worker.test.ts', 'test/cluster/stalled-servers.test.ts', 'test/cluster/worker-lost.test.ts'],
];

export interface TestFiles {
  readonly beside: readonly string[];
  readonly wholeSystem: readonly string[];
  readonly faults: readonly string[];
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
  const found = { beside: [] as string[], wholeSystem: [] as string[], faults: [] as string[] };
  for (const file of files) {
    if (WHOLE_SYSTEM.some((place) => file.startsWith(place)) || PATIENT_FAULTS.includes(file))
      found.wholeSystem.push(file);
    else if (FAULTS.some((place) => file.startsWith(place))) found.faults.push(file);
    else found.beside.push(file);
  }
  return found;
}
