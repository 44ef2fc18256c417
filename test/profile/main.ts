// `npm run profile -- [one-step | three-steps | wait-and-answer] [--callers 64] [--runs 6000] [--out DIR]`: where the CPU of a
// run goes. Writes a flame graph of each process and its profile, and prints a table by process and kind of work.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type BenchStack, startBenchStack } from '../bench/bench-stack.ts';
import { type MeasuredOrder, measure } from '../bench/measure.ts';
import { printMeasurements } from '../bench/report.ts';
import { kernelSeconds } from '../harness/process-tree.ts';
import { readProfile } from './cpu-profile.ts';
import { flameGraph } from './flame-graph.ts';
import { KINDS, kindsOf } from './kinds.ts';
import { beginProfiles, endProfiles } from './stack-profiles.ts';

const WORKLOADS = {
  'one-step': 'post-wait',
  'three-steps': 'post-wait',
  'wait-and-answer': 'wait-and-answer',
} as const;
type Workload = keyof typeof WORKLOADS;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    callers: { type: 'string', default: '64' },
    runs: { type: 'string', default: '6000' },
    out: { type: 'string', default: 'profiles' },
  },
});
const [workload = 'one-step'] = positionals;
const [callers, runs] = [Number(values.callers), Number(values.runs)];
if (!(workload in WORKLOADS) || !(callers > 0) || !(runs > 0)) {
  process.stderr.write(
    `Workloads: ${Object.keys(WORKLOADS).join(', ')}. --callers and --runs take positive numbers.\n`,
  );
  process.exit(2);
}
const folder = resolve(values.out);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const stack = await startBenchStack(
  ['--concurrency', '64'],
  `--import ${new URL(`./profile-on-signal.mjs?folder=${folder}`, import.meta.url).href}`,
);
try {
  await profile(stack, workload as Workload);
} finally {
  await stack.stop();
}

async function profile({ processes, methods, ...rest }: BenchStack, name: Workload): Promise<void> {
  const order: MeasuredOrder = { method: methods[name] ?? '', pattern: WORKLOADS[name], concurrency: callers, runs };
  await measure({ processes, methods, ...rest }, 'warm-up', { ...order, runs: Math.ceil(runs / 3) });
  const profiled = processes.filter((one) => !['postgres', 'nats'].includes(one.name));
  const pids = processes.map(({ pid }) => pid);
  await beginProfiles(folder, profiled);
  const before = kernelSeconds(pids);
  const measured = await measure({ processes, methods, ...rest }, name, order);
  const after = kernelSeconds(pids);
  await endProfiles(folder, profiled);
  printMeasurements({ measurements: [measured], notes: [] });

  const perRun = (us: number) => us / runs;
  const rows = [['', 'all', 'kernel', ...KINDS]];
  for (const [i, one] of processes.entries()) {
    const root = profiled.includes(one) ? readProfile(join(folder, `${one.name}.cpuprofile`)) : null;
    const kinds = root === null ? null : kindsOf(root);
    if (root !== null) writeFileSync(join(folder, `${one.name}.svg`), flameGraph(`${one.name}, ${name}`, root));
    rows.push([
      one.name,
      micros((measured.cpuPerThousand[one.name] ?? 0) * 1_000),
      micros(perRun(((after[i] ?? 0) - (before[i] ?? 0)) * 1e6)),
      ...KINDS.map((kind) => (kinds === null ? '' : micros(perRun(kinds.get(kind) ?? 0)))),
    ]);
  }
  process.stdout.write(`\nMicroseconds of CPU a run. Kinds are those of a process's main thread, kernel included.\n`);
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length))) ?? [];
  for (const row of rows) {
    const cells = row.map((cell, n) => (n === 0 ? cell.padEnd(widths[n] ?? 0) : cell.padStart(widths[n] ?? 0)));
    process.stdout.write(`  ${cells.join('  ').trimEnd()}\n`);
  }
  process.stdout.write(`\nFlame graphs and profiles: ${folder}\n`);
}

function micros(us: number): string {
  return us < 0.5 ? '' : us.toFixed(0);
}
