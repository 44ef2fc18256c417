// A queue that grows because no worker is there, and one worker that empties it: the rates of both, and what a million
// queued runs change.
import { newRunId } from '@methods/base/ids';
import { openPool, type Sql } from '@methods/postgres/pool';
import { ownPrivateBytes, processTree } from '../harness/process-tree.ts';
import { until } from '../harness/until.ts';
import type { BenchStack } from './bench-stack.ts';
import { startWorker } from './bench-workers.ts';
import { type Measurement, measure } from './measure.ts';
import { playWorker } from './played-worker.ts';
import type { WorkloadResult } from './report.ts';
import { quantile, RunCaller } from './run-caller.ts';

const STARTS = 40_000;
const DRAINED = 40_000;
const PLACES = 100;
/** With the starts measured beside them at most the 1,000,000 unfinished runs that one organization may have. */
const QUEUED = 950_000;
const COPIED_AT_ONCE = 20_000;
const CLAIMS = 5;

export async function measureBacklog(stack: BenchStack, scale: number): Promise<WorkloadResult> {
  const sql = openPool({ url: stack.postgresUrl, applicationName: 'bench', max: 1, statementTimeoutMs: 300_000 });
  const caller = new RunCaller(stack, 1);
  const method = stack.methods['one-step'] ?? '';
  const claimed = stack.methods['three-steps'] ?? '';
  const starts = async (name: string) => {
    const runs = Math.ceil((STARTS * scale) / 1_000) * 1_000;
    return measure(stack, name, { method, pattern: 'batch', size: 1_000, concurrency: 4, runs });
  };
  try {
    await measure(stack, 'warm-up', { method, pattern: 'start-only', concurrency: 64, runs: Math.ceil(4_000 * scale) });
    await starts('warm-up');
    const runs = Math.ceil(STARTS * scale);
    const single = await measure(stack, 'starts, one each', { method, pattern: 'start-only', concurrency: 64, runs });
    await drain(stack, sql, method);
    const before = await starts('starts, 1,000 each');
    const drained = await drain(stack, sql, method, Math.ceil(DRAINED * scale));
    const original = await caller.start('three-steps');
    const soonMs = await firstClaimsMs(stack, claimed);
    const queued = Math.ceil(QUEUED * scale);
    await fill(sql, original, queued);
    const lateMs = await firstClaimsMs(stack, claimed);
    const full = await starts(`the same, ${queued} queued`);
    const more = quantile(lateMs, 0.5) - quantile(soonMs, 0.5);
    return {
      measurements: [single, before, full] satisfies Measurement[],
      notes: [
        `starts without a worker: ${rate(before)} in batches, ${rate(single)} one by one (goal: 4,000)`,
        `drained by one worker of ${PLACES} places: ${drained.toFixed(0)} runs/s (goal: 4,000)`,
        `with ${queued} queued the start rate is ${((100 * full.runsPerSecond) / before.runsPerSecond).toFixed(0)} % (goal: over 85)`,
        `first claim of a worker that connects: ${listed(soonMs)} ms, with ${queued} queued ${listed(lateMs)} ms, ${more.toFixed(0)} more in the median (goal: under 50)`,
        `largest process: ${largestProcess(stack)} (goal: 300 MiB)`,
      ],
    };
  } finally {
    await caller.close();
    await sql.end({ timeout: 1 });
  }
}

function listed(figures: readonly number[]): string {
  return figures.map((ms) => ms.toFixed(0)).join(', ');
}

function rate({ runsPerSecond }: Measurement): string {
  return `${runsPerSecond.toFixed(0)}/s`;
}

/** Runs a second that one worker ends, from its first claim on; it starts with none left otherwise. */
async function drain(stack: BenchStack, sql: Sql, method: string, atLeast = 0): Promise<number> {
  const unfinished = async () => {
    const [row] = await sql<
      { runs: number }[]
    >`select coalesce(sum(runs), 0)::float8 as runs from scheduler.unfinished`;
    return row?.runs ?? 0;
  };
  const queued = await unfinished();
  if (queued < atLeast) throw new Error(`only ${queued} runs are queued`);
  const worker = await startWorker(stack, method, PLACES);
  // Its runners have started, and the code is compiled.
  await until('a twentieth is done', async () => (await unfinished()) < queued * 0.95);
  const left = await unfinished();
  const startedMs = performance.now();
  await until('the queue is empty', async () => (await unfinished()) === 0);
  const seconds = (performance.now() - startedMs) / 1_000;
  await worker.stop();
  return left / seconds;
}

/** From the welcome of a worker to its first grant, each time another worker. The runs go back to their queue. */
async function firstClaimsMs(stack: BenchStack, method: string): Promise<number[]> {
  const took: number[] = [];
  for (let n = 0; n < CLAIMS; n++) {
    let welcomeMs = 0;
    await new Promise<void>((resolve) => {
      const played = { address: stack.grpcUrl, key: stack.apiKey, methods: [method], slots: 1, resultJson: '{}' };
      const worker = playWorker(
        played,
        () => {
          welcomeMs = performance.now();
        },
        {
          granted: () => took.push(performance.now() - welcomeMs),
          taken: () => {
            worker.close();
            resolve();
          },
        },
      );
    });
  }
  return took;
}

/** Copies of a queued run, each in a shard of its own turn. */
async function fill(sql: Sql, runId: string, count: number): Promise<void> {
  const [shards] = await sql<{ n: number }[]>`select count(*)::integer as n from scheduler.shards`;
  const shardCount = shards?.n ?? 1;
  const columns = await sql<{ name: string }[]>`
    select column_name as name from information_schema.columns
    where table_schema = 'scheduler' and table_name = 'runs' order by ordinal_position`;
  const own: Record<string, string> = {
    run_id: 'c.id',
    shard: 'c.shard',
    idempotency_hash: 'sha256(c.id::bytea)',
  };
  const values = columns.map(({ name }) => own[name] ?? `r.${name}`).join(', ');
  for (let done = 0; done < count; done += COPIED_AT_ONCE) {
    const ids = Array.from({ length: Math.min(COPIED_AT_ONCE, count - done) }, (_, n) => newRunId(n % shardCount));
    await sql.unsafe(
      `with copies as materialized (
         select id, ((n - 1) % ${shardCount})::smallint as shard from unnest($1::text[]) with ordinality as t(id, n)),
       runs as (insert into scheduler.runs select ${values} from scheduler.runs r, copies c where r.run_id = $2),
       counted as (insert into scheduler.unfinished as u (org_id, shard, runs)
         select r.org_id, c.shard, count(*) from scheduler.runs r, copies c where r.run_id = $2 group by 1, 2
         on conflict (org_id, shard) do update set runs = u.runs + excluded.runs)
       insert into scheduler.queue (run_id, org_id, method, queued_at_ms, shard)
       select c.id, q.org_id, q.method, q.queued_at_ms + 1, c.shard from scheduler.queue q, copies c where q.run_id = $2`,
      [`{${ids.join(',')}}`, runId],
    );
  }
  // What autovacuum does within a minute is not a cost of the claim that follows.
  await sql`vacuum (analyze) scheduler.runs, scheduler.queue, scheduler.unfinished`;
  await sql`checkpoint`;
}

function largestProcess({ processes }: BenchStack): string {
  const all = processes.flatMap(({ name, pid }) => processTree(pid).map((each) => ({ name, pid: each })));
  const bytes = ownPrivateBytes(all.map(({ pid }) => pid));
  const mib = Math.max(...bytes) / 2 ** 20;
  return `${all[bytes.indexOf(Math.max(...bytes))]?.name} with ${mib.toFixed(0)} MiB`;
}
