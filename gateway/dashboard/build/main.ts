// `npm run dashboard:build -- FOLDER`: builds the dashboard into the folder. `--kept ROOT`: into a folder of that one for
// the present sources, unless it is there, and prints its path.
import { resolve } from 'node:path';
import { keptBuild } from '@methods/built-code/kept-build';
import { sourcesKey } from './sources-key.ts';

const DASHBOARD = {
  sourcesKey,
  build,
  isWhole: (names: readonly string[]) => names.includes('index.html'),
};

const [first = '.', second] = process.argv.slice(2);
if (first === '--kept' && second !== undefined) console.log(await keptBuild(second, DASHBOARD));
else await build(resolve(first));

/** Loads the bundler only where there is something to build: most starts find what they need. */
async function build(folder: string): Promise<void> {
  const { buildDashboard } = await import('./build-dashboard.ts');
  await buildDashboard(folder);
}
