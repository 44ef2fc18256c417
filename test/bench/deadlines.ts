// 20,000 deadlines or reminders at one moment: how long after it the last run has ended, is queued or has reminded its
// people, and what other runs of the organization and of another one wait for meanwhile. The runs are copies of one that
// waits, with a deadline a little later than a node's next look.
import { newRunId } from '@methods/base/ids';
import { openPool, type Sql } from '@methods/postgres/pool';
import { cpuSeconds } from '../harness/process-tree.ts';
import { until } from '../harness/until.ts';
import type { BenchStack } from './bench-stack.ts';
import { startPlayedWorkers } from './bench-workers.ts';
import type { WorkloadResult } from './report.ts';
import { quantile, RunCaller } from './run-caller.ts';
import { tenantOf } from './tenant.ts';

const DEADLINES = 20_000;
/** A node reads the deadlines of the next minute every 30 s; making the copies takes some of the rest. */
const AHEAD_MS = 45_000;
/** Runs of each organization that are measured. */
const OTHERS_EVERY_MS = 20;
const CONNECTIONS = 256;
/** How long other runs are measured before the moment, for comparison. */
const BEFORE_MS = 3_000;
const LOOK_EVERY_MS = 20;

export async function measureDeadlines(stack: BenchStack, scale: number): Promise<WorkloadResult> {
  const count = Math.ceil(DEADLINES * scale);
  const sql = openPool({ url: stack.postgresUrl, applicationName: 'bench', max: 2, statementTimeoutMs: 60_000 });
  const caller = new RunCaller(stack, CONNECTIONS);
  const { key, method: elsewhere } = await tenantOf(stack, 'another');
  const played = { slots: 16, resultJson: '{"sum":2}' };
  const workers = await startPlayedWorkers([{ address: stack.grpcUrl, key, methods: [elsewhere], ...played }]);
  const another = new RunCaller({ ...stack, apiKey: key, methods: {} }, CONNECTIONS);
  const others: readonly Others[] = [
    { of: 'the same organization', runOne: () => caller.runOne() },
    { of: 'another organization', runOne: () => another.runOne(elsewhere) },
  ];
  try {
    const notes: string[] = [];
    for (const [what, method, state] of [
      ['questions', 'ask-in-time', 'waiting'],
      ['reminders of questions', 'ask-in-time', 'waiting'],
      ['sleeping runs', 'wait-for-an-hour', 'sleeping'],
    ] as const) {
      const runId = await caller.start(method);
      await until(`it is ${state}`, async () => {
        const [row] = await sql<{ status: string }[]>`select status from scheduler.runs where run_id = ${runId}`;
        return row?.status === state;
      });
      const remind = what.startsWith('reminders');
      notes.push(...(await burst(stack, sql, others, { what, runId, count, remind })));
    }
    return { measurements: [], notes };
  } finally {
    await Promise.all([caller.close(), another.close()]);
    await workers.stop();
    await sql.end({ timeout: 1 });
  }
}

/** Runs of one step. */
interface Others {
  readonly of: string;
  readonly runOne: () => Promise<number>;
}

interface Burst {
  readonly what: string;
  readonly runId: string;
  readonly count: number;
  /** The moment is a reminder, and the deadline a day later. */
  readonly remind: boolean;
}

async function burst(stack: BenchStack, sql: Sql, others: readonly Others[], asked: Burst): Promise<string[]> {
  const { what, runId, count, remind } = asked;
  // The statement that copies is planned for what the tables hold after an earlier moment.
  await sql`analyze`;
  const [clock] = await sql<{ at: number }[]>`select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as at`;
  const dueAtMs = (clock?.at ?? 0) + AHEAD_MS;
  const beginsAtMs = performance.now() + AHEAD_MS - BEFORE_MS;
  await copies(sql, runId, { count, dueAtMs, remind });
  await new Promise((resolve) => setTimeout(resolve, beginsAtMs - performance.now()));
  const measured = others.map(({ of, runOne }) => ({ of, runOne, before: [] as number[], during: [] as number[] }));
  let isBefore = true;
  let over = false;
  const running = Promise.all(
    measured.map(({ runOne, before, during }) =>
      openLoop(
        async () => {
          const tookMs = await runOne();
          (isBefore ? before : during).push(tookMs);
        },
        () => over,
      ),
    ),
  );
  const roots = stack.processes.map(({ pid }) => pid);
  let cpuBefore: readonly number[] | null = null;
  let tookMs = 0;
  while (!over) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    const [row] = await sql<{ late: number; left: boolean }[]>`
      select extract(epoch from clock_timestamp())::float8 * 1000 - ${dueAtMs}::float8 as late,
        exists (select from scheduler.deadlines where wake_at_ms = ${dueAtMs}::bigint) as left`;
    tookMs = row?.late ?? 0;
    if (tookMs < 0) continue;
    cpuBefore ??= cpuSeconds(roots);
    isBefore = false;
    over = row?.left === false;
  }
  const cpuAfter = cpuSeconds(roots);
  await running;
  const cpu = stack.processes.map(
    ({ name }, i) => `${name} ${((cpuAfter[i] ?? 0) - (cpuBefore?.[i] ?? 0)).toFixed(2)}`,
  );
  return [
    `${count} ${what} of one moment: the last was over ${tookMs.toFixed(0)} ms after it`,
    ...measured.map(
      ({ of, before, during }) => `  one-step runs of ${of} before ${timesOf(before)}, meanwhile ${timesOf(during)}`,
    ),
    `  CPU seconds: ${cpu.join(', ')}`,
  ];
}

/** A run every so often, however long the earlier ones take. */
async function openLoop(run: () => Promise<void>, over: () => boolean): Promise<void> {
  const runs: Promise<void>[] = [];
  const beganMs = performance.now();
  for (let n = 0; !over(); n++) {
    await new Promise((resolve) => setTimeout(resolve, beganMs + n * OTHERS_EVERY_MS - performance.now()));
    runs.push(run());
  }
  await Promise.all(runs);
}

function timesOf(latenciesMs: readonly number[]): string {
  const at = (share: number) => quantile(latenciesMs, share).toFixed(0);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms of ${latenciesMs.length}`;
}

interface Copies {
  readonly count: number;
  readonly dueAtMs: number;
  readonly remind: boolean;
}

/** Each in a shard of its own turn, due at the same moment. */
async function copies(sql: Sql, runId: string, { count, dueAtMs, remind }: Copies): Promise<void> {
  const deadlineAtMs = remind ? dueAtMs + 86_400_000 : dueAtMs;
  const remindMs = `jsonb_build_array(floor(${dueAtMs} - (r.question_json::jsonb->>'askedAtMs')::float8))`;
  const rules = `'{"to":[],"notStarter":false,"needs":null,"escalate":null,"timeoutAnswerJson":null}'::jsonb`;
  const policy = remind
    ? `jsonb_build_object('policy', ${rules} || jsonb_build_object('remindMs', ${remindMs}))`
    : `'{}'`;
  const [shards] = await sql<{ n: number }[]>`select count(*)::integer as n from scheduler.shards`;
  const shardCount = shards?.n ?? 1;
  const ids = Array.from({ length: count }, (_, i) => newRunId(i % shardCount));
  const literal = `{${ids.join(',')}}`;
  await sql.unsafe(
    `with copies as (select id, ((n - 1) % ${shardCount})::smallint as shard from unnest($1::text[]) with ordinality as t(id, n)),
     runs as (insert into scheduler.runs select (jsonb_populate_record(r, jsonb_build_object(
         'run_id', c.id, 'shard', c.shard, 'idempotency_hash', sha256(c.id::bytea),
         'wake_at_ms', case r.status when 'sleeping' then ${dueAtMs} end,
         'question_json', (r.question_json::jsonb || jsonb_build_object('id', 'q_' || c.id, 'deadlineAtMs', ${deadlineAtMs}) || ${policy})::text))).*
       from scheduler.runs r, copies c where r.run_id = $2),
     steps as (insert into scheduler.steps select (jsonb_populate_record(s, jsonb_build_object('run_id', c.id))).*
       from scheduler.steps s, copies c where s.run_id = $2),
     counted as (insert into scheduler.unfinished as u (org_id, shard, runs)
       select r.org_id, c.shard, count(*) from scheduler.runs r, copies c where r.run_id = $2 group by 1, 2
       on conflict (org_id, shard) do update set runs = u.runs + excluded.runs)
     insert into scheduler.deadlines (run_id, org_id, question_id, wake_at_ms, shard)
     select c.id, d.org_id, case d.question_id when '' then '' else 'q_' || c.id end, ${dueAtMs}, c.shard from scheduler.deadlines d, copies c where d.run_id = $2`,
    [literal, runId],
  );
}
