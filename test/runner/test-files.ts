// Lists the test files, since Node 20's runner accepts no patterns.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const PLACES = ['libs', 'services', 'gateway', 'deploy', 'test'];
/** Tests that start a whole system each. Their time limits are many seconds. */
const WHOLE_SYSTEM = ['test/e2e/', 'test/cli/', 'test/cluster/', 'test/dashboard/'];
/** Tests of a system under the highest load that the machine can produce: they need the machine for themselves. */
const LOADS = ['test/chaos/chaos.test.ts', 'test/attacks/'];
/** What customers install: it has to work on the Node they have. */
const INSTALLED = ['libs/cli/', 'libs/client/', 'libs/executor/', 'libs/worker/'];
/** Of those, what depends on the release of Node: tested on the Node of the project too. */
const ON_BOTH = ['libs/executor/src/runner-pool.test.ts', 'libs/executor/src/node-runner.test.ts'];
const IMPORT = /^import [^;]*?'(\.[^']+)';$/gm;
const HAS_TESTS = /^import [^;]*? from 'node:test';$/m;

export interface TestFiles {
  readonly beside: readonly string[];
  readonly installed: readonly string[];
  readonly wholeSystem: readonly string[];
  readonly loads: readonly string[];
}

/**
 * Paths from `root`, in order. With `filters`, only files whose path contains one of them, or that run the tests of a
 * module whose path does.
 */
export function findTestFiles(root: string, filters: readonly string[]): TestFiles {
  const isNamed = (path: string) => filters.some((filter) => path.includes(filter));
  const files = PLACES.filter((place) => existsSync(join(root, place)))
    .flatMap((place) =>
      readdirSync(join(root, place), { recursive: true, encoding: 'utf8' }).map((f) => `${place}/${f}`),
    )
    .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules/'))
    .filter((file) => filters.length === 0 || [file, ...bodiesOf(root, file)].some(isNamed))
    .sort();
  const found = {
    beside: [] as string[],
    installed: [] as string[],
    wholeSystem: [] as string[],
    loads: [] as string[],
  };
  for (const file of files) {
    const isBelow = (places: readonly string[]) => places.some((place) => file.startsWith(place));
    if (isBelow(WHOLE_SYSTEM)) found.wholeSystem.push(file);
    else if (isBelow(LOADS)) found.loads.push(file);
    else if (isBelow(INSTALLED)) found.installed.push(file);
    else found.beside.push(file);
    if (ON_BOTH.includes(file)) found.beside.push(file);
  }
  return found;
}

/** The modules beside a test file that hold its tests: tests of a shared stack are in such modules. */
function bodiesOf(root: string, file: string): string[] {
  const imported = [...readFileSync(join(root, file), 'utf8').matchAll(IMPORT)].map(([, path = '']) =>
    normalize(join(dirname(file), path)),
  );
  return imported.filter(
    (path) => existsSync(join(root, path)) && HAS_TESTS.test(readFileSync(join(root, path), 'utf8')),
  );
}
