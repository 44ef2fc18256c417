// What 20,000 waiting runs cost in private memory over all processes: measured before and after, each time after a
// forced collection, the least of several looks.

import { privateBytes } from '../harness/process-tree.ts';
import { startBenchStack } from './bench-stack.ts';
import { measure } from './measure.ts';

const RUNS = 20_000;
const LOOKS = 5;
const SETTLE_MS = 36_000;

export async function measureWaitingMemory(scale: number): Promise<string[]> {
  const stack = await startBenchStack(['--concurrency', '64']);
  try {
    const method = stack.methods['wait-and-answer'] ?? '';
    const start = (runs: number) => measure(stack, 'start', { method, pattern: 'start-only', concurrency: 64, runs });
    // Caches, pools and compiled code are not the runs' memory: they are filled first.
    await start(Math.ceil(4_000 * scale));
    const before = await settled(stack.processes);
    const runs = Math.ceil(RUNS * scale);
    await start(runs);
    const after = await settled(stack.processes);
    const grown = stack.processes.map(({ name }, at) => `${name} ${mib((after[at] ?? 0) - (before[at] ?? 0))}`);
    const total = sum(after) - sum(before);
    return [
      `${runs} waiting runs: ${mib(total)} MiB private memory more (${(total / runs).toFixed(0)} bytes a run)`,
      `  ${grown.join(', ')} MiB`,
    ];
  } finally {
    await stack.stop();
  }
}

/** After what is kept for a while (views, idle actors) is gone, and garbage collected. */
async function settled(processes: readonly { readonly name: string; readonly pid: number }[]): Promise<number[]> {
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const looks: number[][] = [];
  for (let look = 0; look < LOOKS; look++) {
    for (const { name, pid } of processes) if (!/^(postgres|nats)$/.test(name)) process.kill(pid, 'SIGWINCH');
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    looks.push(privateBytes(processes.map(({ pid }) => pid)));
  }
  // Garbage can only make it look like more.
  return processes.map((_, at) => Math.min(...looks.map((look) => look[at] ?? 0)));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function mib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}
