// `npm run check`: everything that can be checked without running the project. One line a check, and the output of
// those that fail. Needs no network.
import { performance } from 'node:perf_hooks';
import { type CommandOutcome, runTool } from './checks/command.ts';
import { checkGeneratedCode } from './checks/generated-drift.ts';

interface Check {
  readonly name: string;
  readonly run: () => Promise<CommandOutcome>;
}

/**
 * Keeps what tsc found, by the hash of each file: a second check costs a tenth of the first. Several checkers would each
 * read the types that files have in common, at 1.6 times the CPU.
 */
function typesOf(project: string, kept: string): string[] {
  const keep = ['--checkers', '1', '--incremental', '--tsBuildInfoFile', `node_modules/.cache/${kept}.tsbuildinfo`];
  return ['-p', project, '--pretty', 'false', ...keep];
}

/** The slowest first; each of them uses more than one core already. */
const checks: readonly Check[] = [
  { name: 'format and lint', run: () => runTool('biome', ['check', '--colors=off', '--error-on-warnings', '.']) },
  { name: 'types', run: () => runTool('tsc', typesOf('tsconfig.json', 'methods-types')) },
  {
    name: 'dashboard types',
    run: () => runTool('tsc', typesOf('gateway/dashboard/tsconfig.json', 'methods-dashboard-types')),
  },
  { name: 'unused code', run: () => runTool('knip', ['--no-progress', '--no-config-hints']) },
  { name: 'arrows', run: () => runTool('depcruise', ['services', 'gateway', 'libs', 'deploy']) },
  { name: 'generated code', run: checkGeneratedCode },
  { name: 'proto lint', run: () => runTool('buf', ['lint']) },
  { name: 'proto breaking', run: () => runTool('buf', ['breaking', '--against', 'proto/baseline.binpb']) },
];
const AT_ONCE = 2;

async function runOne(check: Check): Promise<boolean> {
  const beganMs = performance.now();
  const { ok, output } = await check.run();
  const seconds = ((performance.now() - beganMs) / 1000).toFixed(1);
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${check.name.padEnd(16)} ${seconds.padStart(6)} s`);
  if (!ok) console.log(output.trimEnd());
  return ok;
}

const waiting = [...checks];
const failed: string[] = [];

async function work(): Promise<void> {
  for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
    if (!(await runOne(check))) failed.push(check.name);
  }
}

await Promise.all(Array.from({ length: AT_ONCE }, work));
if (failed.length > 0) {
  console.log(`Failed: ${failed.join(', ')}.`);
  process.exitCode = 1;
}
