// The workloads, which docs/performance.md describes.
import { measureAccounts } from './accounts.ts';
import { measureAgents } from './agents.ts';
import { measureBacklog } from './backlog.ts';
import { type BenchStack, startBenchStack } from './bench-stack.ts';
import { measureCliStart } from './cli-start.ts';
import { measureClient } from './client/client.ts';
import { measureDashboard } from './dashboard.ts';
import { measureDeadlines } from './deadlines.ts';
import { measureEventReaders } from './event-readers.ts';
import { measureEvents } from './events.ts';
import { measureIdle } from './idle.ts';
import { measureInbox } from './inbox.ts';
import { measureSchedulerKilled, measureWorkerKilled } from './killed.ts';
import { measureLanguage } from './language.ts';
import { measureLimit } from './limit.ts';
import { measureMailedQuestions } from './mailed-questions.ts';
import { type Measurement, measure } from './measure.ts';
import type { WorkloadResult } from './report.ts';
import { measureTenants } from './tenants.ts';
import { measureWaitingMemory } from './waiting-memory.ts';

export type Workload = (options: { readonly scale: number }) => Promise<WorkloadResult>;

const CONCURRENCY = '64';

async function withStack(run: (stack: BenchStack) => Promise<Measurement[]>): Promise<WorkloadResult> {
  return withStackFor(async (stack) => ({ measurements: await run(stack), notes: [] }));
}

async function withStackFor(
  run: (stack: BenchStack) => Promise<WorkloadResult>,
  args: readonly string[] = ['--concurrency', CONCURRENCY],
): Promise<WorkloadResult> {
  const stack = await startBenchStack(args);
  try {
    return await run(stack);
  } finally {
    await stack.stop();
  }
}

function methodOf(stack: BenchStack, name: string): string {
  const method = stack.methods[name];
  if (method === undefined) throw new Error(`${name} is not published`);
  return method;
}

export const workloads: Readonly<Record<string, Workload>> = {
  'start-to-result': ({ scale }) =>
    withStack(async (stack) => {
      const method = methodOf(stack, 'one-step');
      const runs = (n: number) => Math.ceil(n * scale);
      await measure(stack, 'warm-up', { method, pattern: 'post-wait', concurrency: 64, runs: runs(3_000) });
      const rows: Measurement[] = [];
      for (const concurrency of [1, 16, 64, 256]) {
        const count = runs(concurrency === 1 ? 1_000 : 6_000);
        rows.push(await measure(stack, 'POST ?wait_ms', { method, pattern: 'post-wait', concurrency, runs: count }));
      }
      rows.push(
        await measure(stack, 'POST, GET ?wait_ms', {
          method,
          pattern: 'post-then-get',
          concurrency: 64,
          runs: runs(6_000),
        }),
      );
      return rows;
    }),
  'three-steps': ({ scale }) =>
    withStack(async (stack) => {
      const order = { method: methodOf(stack, 'three-steps'), pattern: 'post-wait' as const, concurrency: 64 };
      await measure(stack, 'warm-up', { ...order, runs: Math.ceil(2_000 * scale) });
      return [await measure(stack, 'three steps', { ...order, runs: Math.ceil(5_000 * scale) })];
    }),
  'wait-and-answer': async ({ scale }) => {
    const answers = await withStack(async (stack) => {
      const order = { method: methodOf(stack, 'wait-and-answer'), concurrency: 64 };
      const runs = Math.ceil(5_000 * scale);
      await measure(stack, 'warm-up', { ...order, pattern: 'wait-and-answer', runs: Math.ceil(2_000 * scale) });
      return [
        await measure(stack, 'POST, answer, GET', { ...order, pattern: 'wait-and-answer', runs }),
        await measure(stack, 'POST, answer ?wait_ms', { ...order, pattern: 'answer-and-wait', runs }),
      ];
    });
    return { ...answers, notes: await measureWaitingMemory(scale) };
  },
  batch: ({ scale }) =>
    withStackFor(
      async (stack) => {
        const order = { method: methodOf(stack, 'one-step'), pattern: 'batch' as const };
        const runs = (n: number) => Math.ceil((n * scale) / 1_000) * 1_000;
        await measure(stack, 'warm-up', { ...order, size: 1_000, concurrency: 2, runs: runs(20_000) });
        const measurements: Measurement[] = [];
        for (const [size, concurrency] of [
          [1_000, 1],
          [1_000, 4],
          [100, 6],
        ] as const) {
          const name = `${size} starts a request`;
          measurements.push(await measure(stack, name, { ...order, size, concurrency, runs: runs(60_000) }));
        }
        return { measurements, notes: [] };
      },
      ['--workers', '0'],
    ),
  backlog: ({ scale }) => withStackFor((stack) => measureBacklog(stack, scale), ['--workers', '0']),
  tenants: ({ scale }) => withStackFor((stack) => measureTenants(stack, scale), ['--workers', '0']),
  idle: async ({ scale }) => ({ measurements: [], notes: await measureIdle(scale) }),
  'worker-killed': async ({ scale }) => ({ measurements: [], notes: await measureWorkerKilled(scale) }),
  'scheduler-killed': async ({ scale }) => ({ measurements: [], notes: await measureSchedulerKilled(scale) }),
  accounts: ({ scale }) => withStackFor((stack) => measureAccounts(stack, scale)),
  deadlines: ({ scale }) => withStackFor((stack) => measureDeadlines(stack, scale)),
  events: ({ scale }) => withStackFor((stack) => measureEvents(stack, methodOf(stack, 'one-step'), scale)),
  'event-readers': ({ scale }) =>
    withStackFor((stack) => measureEventReaders(stack, methodOf(stack, 'one-step'), scale)),
  agents: ({ scale }) => withStackFor((stack) => measureAgents(stack, scale)),
  dashboard: ({ scale }) => withStackFor((stack) => measureDashboard(stack, scale), ['--workers', '1']),
  inbox: ({ scale }) => withStackFor((stack) => measureInbox(stack, scale)),
  'mailed-questions': async ({ scale }) => measureMailedQuestions(scale),
  client: ({ scale }) => withStackFor((stack) => measureClient(stack, scale), ['--workers', '0']),
  'cli-start': async ({ scale }) => ({ measurements: [], notes: await measureCliStart(scale) }),
  language: async ({ scale }) => ({ measurements: [], notes: await measureLanguage(scale) }),
  limit: async ({ scale }) => ({ measurements: [], notes: await measureLimit(scale) }),
};
