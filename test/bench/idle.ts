// The system at rest: CPU and private memory of everything that `npm start` leaves running, then with 200 workers
// connected that have nothing to do.
import { cpuSeconds, privateBytes } from '../harness/process-tree.ts';
import { type BenchStack, startBenchStack } from './bench-stack.ts';
import { startPlayedWorkers } from './bench-workers.ts';

const WORKERS = 200;
/**
 * What a start leaves behind is over, however short the measurement: routes to compile, kept views, idle actors, and the
 * two collections of the whole heap, 100 s apart, by which Node processes give memory back once they have less to do.
 */
const SETTLE_MS = 240_000;
const MEASURED_MS = 60_000;

export async function measureIdle(scale: number): Promise<string[]> {
  const stack = await startBenchStack(['--concurrency', '16']);
  try {
    const notes = await rest(stack, 'npm start at rest (goal: under 2 % of a core, 500 MiB)', scale);
    const workers = await startPlayedWorkers(
      Array.from({ length: WORKERS }, () => ({
        address: stack.grpcUrl,
        key: stack.apiKey,
        methods: [stack.methods['one-step'] ?? ''],
        slots: 10,
        resultJson: '{}',
      })),
    );
    notes.push(...(await rest(stack, `${WORKERS} workers connected (goal: under 2 % of a core)`, scale)));
    await workers.stop();
    return notes;
  } finally {
    await stack.stop();
  }
}

async function rest(stack: BenchStack, name: string, scale: number): Promise<string[]> {
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  // The process that holds the stack is the parent of all.
  const pids = [stack.pid, ...stack.processes.map(({ pid }) => pid)];
  const startedMs = performance.now();
  const before = cpuSeconds(pids);
  await new Promise((resolve) => setTimeout(resolve, MEASURED_MS * scale));
  const after = cpuSeconds(pids);
  const percent = (n: number) => ((after[n] ?? 0) - (before[n] ?? 0)) / ((performance.now() - startedMs) / 100_000);
  const mib = privateBytes(pids).map((bytes) => bytes / 2 ** 20);
  const parts = stack.processes.map(
    (process, n) => `${process.name} ${percent(n + 1).toFixed(2)} % ${mib[n + 1]?.toFixed(0)} MiB`,
  );
  return [`${name}: ${percent(0).toFixed(2)} % of a core, ${mib[0]?.toFixed(0)} MiB`, `  ${parts.join(', ')}`];
}
