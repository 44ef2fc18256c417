// A process of the workload `language`: what a new worker does with a version that was prepared on this machine before.
// The argument is JSON: `folder` for runs, `cacheDir` of packages, `lock` of the version. Prints the time as a number.
import { systemClock } from '@methods/base/clock';
import { prepareDependencies } from '@methods/executor/dependencies/prepare-dependencies';
import { RunnerPool } from '@methods/executor/runner-pool';
import { compiledMethod, GREETING, PATH } from './language-methods.ts';
import { oneRunMs } from './one-run.ts';

const { folder, cacheDir, lock } = JSON.parse(process.argv[2] ?? '{}') as Record<string, string>;
const runners = new RunnerPool({ folder: folder ?? '', runnersMax: 4, path: PATH, clock: systemClock });
runners.start();

const startedMs = performance.now();
const method = compiledMethod(GREETING);
const { environment } = await prepareDependencies(method, {
  cacheDir: cacheDir ?? '',
  lock: Buffer.from(lock ?? ''),
  allowScripts: false,
  path: PATH,
  // No registry: nothing may be fetched any more.
  host: new Map([['npm_config_registry', 'http://127.0.0.1:9/']]),
});
await oneRunMs({ method, inputs: { a: 'Ann' }, runners, folder: folder ?? '', environment });
process.stdout.write(String(performance.now() - startedMs));
await runners.stop();
