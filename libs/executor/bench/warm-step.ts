// What a warm node step costs: CPU of the worker's side and of the runners, and the time from start to end.
// Usage: node --import tsx libs/executor/bench/warm-step.ts [runs=20000] [concurrency=64]
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@methods/base/clock';
import { executeRun } from '../src/execute-run.ts';
import { literal, method, node, out, path } from '../src/hand-built-method.ts';
import { RunFolder } from '../src/run-folder.ts';
import { RunnerPool } from '../src/runner-pool.ts';

const runs = Number(process.argv[2] ?? 20_000);
const concurrency = Number(process.argv[3] ?? 64);
const folder = await mkdtemp(join(tmpdir(), 'bench-'));
const runners = new RunnerPool({ folder, runnersMax: 64, path: '/usr/local/bin:/usr/bin:/bin', clock: systemClock });
runners.start();
const step = node('add', 'return { sum: a + b }', {
  inputs: { a: path('inputs', 'a'), b: literal(2) },
  out: out({ sum: { type: 'number' } }),
});
const add = method([step], { sum: path('steps', 'add', 'sum') });

async function one(i: number): Promise<number> {
  const startedMs = performance.now();
  const outcome = await executeRun({
    runId: `run_${i}`,
    versionId: 'ver_1',
    startedAtMs: 0,
    method: add,
    inputs: { a: i },
    finished: new Map(),
    secrets: new Map(),
    journal: { stepEnded: () => Promise.resolve() },
    runners,
    fetch,
    folder: RunFolder.create(folder, `run_${i}`),
    signal: new AbortController().signal,
    clock: systemClock,
  });
  if (outcome.status !== 'succeeded') throw new Error(JSON.stringify(outcome));
  return performance.now() - startedMs;
}

async function many(count: number): Promise<number[]> {
  const times: number[] = [];
  let next = 0;
  const lane = async () => {
    while (next < count) times.push(await one(next++));
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  return times.sort((a, b) => a - b);
}

/** User and system CPU of this process's children of children aside: read from /proc, in ms. */
function childCpuMs(): number {
  let ticks = 0;
  for (const task of readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').trim().split(' ')) {
    try {
      const fields = readFileSync(`/proc/${task}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      ticks += Number(fields[11]) + Number(fields[12]);
    } catch {
      // It ended meanwhile.
    }
  }
  return ticks * 10;
}

await many(3000);
for (let round = 1; round <= 3; round++) {
  const childBefore = childCpuMs();
  const cpu = process.cpuUsage();
  const startedMs = performance.now();
  const times = await many(runs);
  const elapsedMs = performance.now() - startedMs;
  const used = process.cpuUsage(cpu);
  const at = (share: number) => (times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(2);
  console.log(
    `round ${round}: ${Math.round((runs / elapsedMs) * 1000)} runs/s, ${runners.size} runners, ` +
      `CPU µs a step: worker ${((used.user + used.system) / runs).toFixed(0)}, ` +
      `runner ${(((childCpuMs() - childBefore) * 1000) / runs).toFixed(0)}; ` +
      `ms p50 ${at(0.5)} p95 ${at(0.95)} p99 ${at(0.99)} max ${at(1)}`,
  );
}
await runners.stop();
await rm(folder, { recursive: true, force: true });
