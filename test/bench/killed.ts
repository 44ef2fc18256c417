// A worker or a run-scheduler is killed under load: how long its runs pause, what callers notice, and that no run is lost.
import { randomUUID } from 'node:crypto';
import { openPool, type Sql } from '@methods/postgres/pool';
import { until } from '../harness/until.ts';
import { type BenchStack, startBenchStack } from './bench-stack.ts';
import { startWorker } from './bench-workers.ts';
import { quantile, RunCaller } from './run-caller.ts';

const LEASE_MS = 60_000;
const LEASE_MS_MIN = 5_000;
const HELD = 16;
const CALLERS = 32;
const WARM_UP_MS = 3_000;
const BEFORE_MS = 5_000;
const AFTER_MS = 10_000;
const GAP_MS = { median: 1_500, worst: 5_000 };

/** `scale` shortens the lease, to five seconds at least. */
export async function measureWorkerKilled(scale: number): Promise<string[]> {
  const leaseMs = Math.max(LEASE_MS_MIN, Math.min(1, scale) * LEASE_MS);
  const env = { WORKER_LEASE_MS: String(leaseMs), HEARTBEAT_MS: String(leaseMs / 4) };
  const stack = await startBenchStack(['--workers', '0'], '', env);
  const sql = openSql(stack);
  const caller = new RunCaller(stack, 2 * HELD);
  const method = stack.methods['slow-step'] ?? '';
  const other = await startWorker(stack, method, HELD);
  const running = () => sql<{ runId: string; session: string }[]>`
    select run_id as "runId", worker_session as session from scheduler.runs where status = 'running'`;
  try {
    await caller.start('slow-step');
    const [first] = await until('the other worker has a run', async () => {
      const rows = await running();
      return rows.length > 0 && rows;
    });
    const killed = await startWorker(stack, method, HELD);
    await until('it has none', async () => (await running()).length === 0);
    await Promise.all(Array.from({ length: 2 * HELD }, () => caller.start('slow-step')));
    const held = await until('both are full', async () => {
      const rows = await running();
      return rows.length === 2 * HELD && rows;
    });
    // A run whose grant no worker has accepted yet continues uncounted.
    await until('each run has begun', async () => {
      const [row] = await sql<{ steps: number }[]>`
        select count(*)::integer as steps from scheduler.steps
        where run_id = any(${held.map(({ runId }) => runId)}) and path = 'begun'`;
      return row?.steps === held.length;
    });
    // A session is one stream of a worker, which may have another one by now.
    const workerOf = (session: string) => session.slice(0, session.lastIndexOf('.'));
    const survivor = workerOf(first?.session ?? '');
    const victims = new Set(held.filter(({ session }) => workerOf(session) !== survivor).map(({ runId }) => runId));
    const killedMs = performance.now();
    process.kill(killed.pid, 'SIGKILL');
    const tookMs: number[] = [];
    await until('each is claimed again', async () => {
      const rows = await sql<{ runId: string; status: string; attempts: number }[]>`
        select run_id as "runId", status, attempts from scheduler.runs where run_id = any(${[...victims]})`;
      for (const { runId, status, attempts } of rows) {
        if (attempts > 1) tookMs.push(performance.now() - killedMs);
        // The others ended before their worker did.
        if (attempts > 1 || status === 'succeeded') victims.delete(runId);
      }
      return victims.size === 0;
    });
    if (tookMs.length === 0) throw new Error('the machine is too slow: the runs ended before their worker was killed');
    await until('all have ended', async () => (await count(sql, ['succeeded'])) === 2 * HELD + 1);
    await killed.stop();
    return [
      `${tookMs.length} runs of a killed worker continue elsewhere after ${seconds(Math.min(...tookMs))} to ${seconds(Math.max(...tookMs))} (goal: its lease of ${leaseMs / 1_000} s and 1 s)`,
      `all ${2 * HELD + 1} runs succeeded`,
    ];
  } finally {
    await caller.close();
    await other.stop();
    await sql.end({ timeout: 1 });
    await stack.stop();
  }
}

/** The three schedulers are killed one after the other; the stack starts each again. */
export async function measureSchedulerKilled(scale: number): Promise<string[]> {
  const stack = await startBenchStack(['--schedulers', '3', '--workers', '2', '--concurrency', '64']);
  const sql = openSql(stack);
  const load = new SteadyLoad(stack);
  try {
    const gaps: number[] = [];
    await load.forMs(WARM_UP_MS);
    await load.forMs(BEFORE_MS);
    const calm = load.longestGapMs();
    for (const { pid } of stack.processes.filter(({ name }) => name.startsWith('run-scheduler'))) {
      process.kill(pid, 'SIGKILL');
      await load.forMs(AFTER_MS * Math.max(scale, 0.5));
      gaps.push(load.longestGapMs());
    }
    const { started, errors, repeats, latenciesMs } = await load.stop();
    await until('no run is left', async () => (await count(sql, ['queued', 'running', 'waiting'])) === 0);
    const succeeded = await count(sql, ['succeeded']);
    return [
      `${gaps.length} kills, longest time in which no run ended: ${gaps.map((ms) => `${ms.toFixed(0)} ms`).join(', ')} (without a kill ${calm.toFixed(0)} ms)`,
      `longest run of a caller ${seconds(quantile(latenciesMs, 1))}, p99 ${seconds(quantile(latenciesMs, 0.99))} (goal: ${seconds(GAP_MS.median)}, at worst ${seconds(GAP_MS.worst)})`,
      `callers saw ${errors.length} errors in ${started} starts (goal: 0) and repeated ${repeats} requests${errors[0] === undefined ? '' : `; first: ${errors[0]}`}`,
      `${succeeded} runs succeeded, ${started - succeeded} lost (goal: 0)`,
    ];
  } finally {
    await load.stop();
    await sql.end({ timeout: 1 });
    await stack.stop();
  }
}

/** A closed loop of callers. A reply 503 counts as an error, and the start is repeated with its key. */
class SteadyLoad {
  private readonly caller: RunCaller;
  private readonly loops: Promise<unknown>;
  private readonly latenciesMs: number[] = [];
  private readonly errors: string[] = [];
  private endsMs: number[] = [];
  private started = 0;
  private repeats = 0;
  private over = false;

  constructor(stack: BenchStack) {
    this.caller = new RunCaller(stack, CALLERS);
    this.loops = Promise.all(Array.from({ length: CALLERS }, () => this.loop()));
  }

  async forMs(ms: number): Promise<void> {
    this.endsMs = [performance.now()];
    await new Promise((resolve) => setTimeout(resolve, ms));
  }

  /** Between two ends of runs, since `forMs` began. */
  longestGapMs(): number {
    const ends = [...this.endsMs, performance.now()];
    return Math.max(...ends.map((ms, n) => ms - (ends[n - 1] ?? ms)));
  }

  async stop() {
    this.over = true;
    await this.loops;
    await this.caller.close().catch(() => {});
    const { started, errors, repeats, latenciesMs } = this;
    return { started, errors, repeats, latenciesMs };
  }

  private async loop(): Promise<void> {
    while (!this.over) {
      const beganMs = performance.now();
      const key = randomUUID();
      this.started++;
      while (!(await this.once(key))) this.repeats++;
      this.latenciesMs.push(performance.now() - beganMs);
      this.endsMs.push(performance.now());
    }
  }

  private async once(key: string): Promise<boolean> {
    try {
      const { status } = await this.caller.post('one-step', '?wait_ms=30000', { idempotency_key: key });
      return status === 'succeeded';
    } catch (error) {
      this.errors.push(String(error));
      return false;
    }
  }
}

function openSql(stack: BenchStack): Sql {
  return openPool({ url: stack.postgresUrl, applicationName: 'bench', max: 1, statementTimeoutMs: 60_000 });
}

async function count(sql: Sql, statuses: readonly string[]): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*)::integer as n from scheduler.runs where status = any(${[...statuses]})`;
  return row?.n ?? 0;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
