// Measures the cost of a code step: CPU of the worker's side and of the runners, the time from start to end of a run,
// and the time a step adds to its code. It also measures the start of an empty child process, which a warm runner
// saves. Usage: node --import tsx libs/executor/bench/warm-step.ts [node|python|shell|all=all] [runs=20000]
// [concurrency=64]

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@methods/base/clock';
import type { LocalVersionId, VersionId } from '@methods/base/ids';
import type { CodeLanguage } from '@methods/method/compiled-method';
import { executeRun } from '../src/execute-run.ts';
import { literal, method, node, out, path } from '../src/hand-built-method.fixture.ts';
import { RunFolder } from '../src/run-folder.ts';
import { RunnerPool } from '../src/runner-pool.ts';
import { groupMembers, readProcessTable } from '../src/runners/process-table.ts';

const PATH = '/usr/local/bin:/usr/bin:/bin';
const CODE: Record<CodeLanguage, string> = {
  node: 'return { sum: a + b }',
  python: 'return {"sum": a + b}',
  shell: 'step out sum $((a + b))',
};
const EMPTY: Record<CodeLanguage, readonly [string, ...string[]]> = {
  node: [process.execPath, '-e', ''],
  python: ['python3', '-I', '-c', ''],
  shell: ['bash', '--noprofile', '--norc', '-c', ''],
};

const which = process.argv[2] ?? 'all';
const runs = Number(process.argv[3] ?? 20_000);
const concurrency = Number(process.argv[4] ?? 64);
const folder = await mkdtemp(join(tmpdir(), 'bench-'));
const runners = new RunnerPool({ folder, runnersMax: 64, path: PATH, clock: systemClock });
runners.start();
console.log(runners.isolation.text);
let serial = 0;

function addition(kind: CodeLanguage) {
  const step = node('add', CODE[kind], {
    kind,
    inputs: { a: path('inputs', 'a'), b: literal(2) },
    out: out({ sum: { type: 'number' } }),
  });
  return method([step], { sum: path('steps', 'add', 'sum') });
}

async function one(add: ReturnType<typeof addition>, versionId: VersionId | LocalVersionId): Promise<number> {
  const runId = `run_${++serial}` as const;
  const startedMs = performance.now();
  const outcome = await executeRun({
    runId,
    versionId,
    startedAtMs: 0,
    method: add,
    inputs: { a: serial },
    finished: new Map(),
    secrets: new Map(),
    journal: { stepEnded: () => Promise.resolve(), stepStarted: () => Promise.resolve() },
    runners,
    fetch,
    folder: RunFolder.create(folder, runId),
    signal: new AbortController().signal,
    clock: systemClock,
  });
  if (outcome.status !== 'succeeded') throw new Error(JSON.stringify(outcome));
  return performance.now() - startedMs;
}

async function many(kind: CodeLanguage, count: number, lanes: number): Promise<number[]> {
  const add = addition(kind);
  const times: number[] = [];
  let left = count;
  const lane = async () => {
    while (left-- > 0) times.push(await one(add, `ver_${kind}`));
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return times.sort((a, b) => a - b);
}

async function emptyProcess([command, ...args]: readonly [string, ...string[]]): Promise<number> {
  const startedMs = performance.now();
  const child = spawn(command, args, { env: { PATH }, stdio: 'ignore' });
  await new Promise((resolve) => child.once('close', resolve));
  return performance.now() - startedMs;
}

/** User and system CPU of the processes below this one: read from /proc, in ms. */
function childCpuMs(): number {
  let ticks = 0;
  for (const pid of groupMembers(readProcessTable(), process.pid)) {
    if (pid === process.pid) continue;
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      ticks += Number(fields[11]) + Number(fields[12]);
    } catch {
      // It ended meanwhile.
    }
  }
  return ticks * 10;
}

function at(times: readonly number[], share: number): string {
  return (times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(2);
}

for (const kind of ['node', 'python', 'shell'] as const) {
  if (which !== 'all' && which !== kind) continue;
  const count = kind === 'shell' ? Math.min(runs, 500) : runs;
  await many(kind, Math.min(3000, count), concurrency);
  const single = await many(kind, Math.min(1000, count), 1);
  const empty: number[] = [];
  for (let i = 0; i < 30; i++) empty.push(await emptyProcess(EMPTY[kind]));
  empty.sort((a, b) => a - b);
  console.log(
    `${kind}: one after the other ms p50 ${at(single, 0.5)} p99 ${at(single, 0.99)}; empty process p50 ${at(empty, 0.5)}`,
  );
  const childBefore = childCpuMs();
  const cpu = process.cpuUsage();
  const startedMs = performance.now();
  const times = await many(kind, count, concurrency);
  const elapsedMs = performance.now() - startedMs;
  const used = process.cpuUsage(cpu);
  console.log(
    `${kind}: ${concurrency} at once ${Math.round((count / elapsedMs) * 1000)} runs/s, ${runners.size} runners, ` +
      `CPU µs a step: worker ${((used.user + used.system) / count).toFixed(0)}, ` +
      `runner ${(((childCpuMs() - childBefore) * 1000) / count).toFixed(0)}; ` +
      `ms p50 ${at(times, 0.5)} p95 ${at(times, 0.95)} p99 ${at(times, 0.99)} max ${at(times, 1)}`,
  );
}
await runners.stop();
await rm(folder, { recursive: true, force: true });
