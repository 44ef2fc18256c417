// One measurement: load from a process of its own, CPU of every process involved, latencies.
import { spawn } from 'node:child_process';
import { nodeArguments } from '@methods/built-code/node-arguments';
import { cpuSeconds } from '../harness/process-tree.ts';
import type { BenchStack } from './bench-stack.ts';
import type { LoadOrder, LoadReport } from './load.ts';

const LOAD = new URL('./load.ts', import.meta.url);

export interface Measurement {
  readonly name: string;
  readonly concurrency: number;
  readonly runs: number;
  readonly failed: number;
  readonly runsPerSecond: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** CPU seconds per 1,000 runs, by process; `load` is the load process itself. */
  readonly cpuPerThousand: Readonly<Record<string, number>>;
  readonly cpuPerThousandTotal: number;
}

type Unplaced<Order> = Order extends LoadOrder ? Omit<Order, 'baseUrl' | 'credential'> : never;

/** Without a credential the stack's own key is used. */
export type MeasuredOrder = Unplaced<LoadOrder> & { readonly credential?: string };

export async function measure(stack: BenchStack, name: string, order: MeasuredOrder): Promise<Measurement> {
  const roots = stack.processes.map(({ pid }) => pid);
  const before = cpuSeconds(roots);
  const report = await load({ credential: stack.apiKey, ...order, baseUrl: stack.baseUrl });
  const after = cpuSeconds(roots);
  if (report.firstFailure !== null)
    process.stderr.write(`${name}: ${report.failed} failed, first: ${report.firstFailure}\n`);
  const perThousand = (seconds: number) => (seconds / order.runs) * 1000;
  const cpu: Record<string, number> = {};
  for (const [at, { name: process_ }] of stack.processes.entries()) {
    cpu[process_] = perThousand((after[at] ?? 0) - (before[at] ?? 0));
  }
  cpu.load = perThousand(report.cpuS);
  const sorted = [...report.latenciesMs].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return {
    name,
    concurrency: order.concurrency,
    runs: order.runs,
    failed: report.failed,
    runsPerSecond: order.runs / report.seconds,
    p50Ms: at(0.5),
    p95Ms: at(0.95),
    p99Ms: at(0.99),
    maxMs: sorted.at(-1) ?? 0,
    cpuPerThousand: cpu,
    cpuPerThousandTotal: Object.values(cpu).reduce((sum, seconds) => sum + seconds, 0),
  };
}

async function load(order: LoadOrder): Promise<LoadReport> {
  const child = spawn(process.execPath, [...nodeArguments(LOAD), JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8');
  });
  await new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return JSON.parse(text) as LoadReport;
}
