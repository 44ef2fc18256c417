// What it costs that one reader follows an organization's runs: the same runs are started by the thousand and done by one
// worker, first without and then with a reader of GET /v1/events. Not in turns, since events are kept for five minutes
// for readers who come back. Postgres says when the runs are done, so that nothing else asks the gateway.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { nodeArguments } from '@methods/built-code/node-arguments';
import { openPool, type Sql } from '@methods/postgres/pool';
import { cpuSeconds } from '../harness/process-tree.ts';
import type { BenchStack } from './bench-stack.ts';
import type { EventsReport } from './events-reader.ts';
import { type Measurement, measure } from './measure.ts';
import type { WorkloadResult } from './report.ts';

const READER = new URL('./events-reader.ts', import.meta.url);
const RUNS = 10_000;
const ROUNDS = 5;
const LOOK_EVERY_MS = 200;
const DONE_WITHIN_MS = 120_000;

interface Round {
  /** Microseconds of CPU a run, by process. */
  readonly cpuUs: Readonly<Record<string, number>>;
  readonly starts: Measurement;
  readonly report: EventsReport | null;
}

export async function measureEvents(stack: BenchStack, method: string, scale: number): Promise<WorkloadResult> {
  const sql = openPool({ url: stack.postgresUrl, applicationName: 'bench', max: 1, statementTimeoutMs: 60_000 });
  const runs = Math.max(1, Math.round((RUNS * scale) / 1_000)) * 1_000;
  try {
    await round(stack, sql, method, runs, false);
    const without: Round[] = [];
    const followed: Round[] = [];
    for (let n = 0; n < ROUNDS; n++) without.push(await round(stack, sql, method, runs, false));
    for (let n = 0; n < ROUNDS; n++) followed.push(await round(stack, sql, method, runs, true));
    const usOf = (rounds: readonly Round[], name: string) => median(rounds.map(({ cpuUs }) => cpuUs[name] ?? 0));
    const names = ['gateway-1', 'run-scheduler-1'];
    const more = names.reduce((sum, name) => sum + usOf(followed, name) - usOf(without, name), 0);
    const reports = followed.flatMap(({ report }) => report ?? []);
    return {
      measurements: [...without, ...followed].map(({ starts }) => starts),
      notes: [
        `${runs} runs followed by one reader: ${more.toFixed(0)} µs of CPU a run more in gateway and node`,
        ...names.map(
          (name) =>
            `  ${name}: ${usOf(without, name).toFixed(0)} µs a run, ${usOf(followed, name).toFixed(0)} with the reader`,
        ),
        `  it got ${reports.map((each) => each.runs).join(', ')} runs, ${median(reports.map(({ bytes, runs: got }) => bytes / got)).toFixed(0)} bytes each`,
      ],
    };
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function round(stack: BenchStack, sql: Sql, method: string, runs: number, followed: boolean): Promise<Round> {
  const reader = followed ? await Reader.begin(stack, runs) : null;
  const roots = stack.processes.map(({ pid }) => pid);
  const before = cpuSeconds(roots);
  const order = { method, pattern: 'batch' as const, size: 1_000, concurrency: 2, runs };
  const starts = await measure(stack, followed ? 'starts, followed' : 'starts', order);
  const untilMs = performance.now() + DONE_WITHIN_MS;
  for (;;) {
    const [row] = await sql<
      { runs: number }[]
    >`select coalesce(sum(runs), 0)::integer as runs from scheduler.unfinished`;
    if (row?.runs === 0) break;
    if (performance.now() > untilMs) throw new Error(`${row?.runs} runs are not done`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  const report = (await reader?.end()) ?? null;
  const after = cpuSeconds(roots);
  const cpuUs = Object.fromEntries(
    stack.processes.map(({ name }, at) => [name, (((after[at] ?? 0) - (before[at] ?? 0)) / runs) * 1e6]),
  );
  return { cpuUs, starts, report };
}

/** A process of its own that has begun to follow. */
class Reader {
  private text = '';

  private constructor(private readonly child: ReturnType<typeof spawn>) {
    child.stdout?.on('data', (chunk: Buffer) => {
      this.text += chunk.toString();
    });
  }

  static async begin({ baseUrl, apiKey }: BenchStack, runs: number): Promise<Reader> {
    const order = JSON.stringify({ baseUrl, apiKey, runs });
    const child = spawn(process.execPath, [...nodeArguments(READER), order], { stdio: ['ignore', 'pipe', 'inherit'] });
    const reader = new Reader(child);
    while (!reader.text.startsWith('ready\n')) {
      if (child.exitCode !== null) throw new Error('the reader of events did not begin');
      await Promise.race([once(child.stdout as NodeJS.ReadableStream, 'data'), once(child, 'exit')]);
    }
    return reader;
  }

  async end(): Promise<EventsReport> {
    if (this.child.exitCode === null) await once(this.child, 'exit');
    return JSON.parse(this.text.slice('ready\n'.length)) as EventsReport;
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}
