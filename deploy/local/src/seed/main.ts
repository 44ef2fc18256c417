// `npm run seed`: fills a running local stack with made-up methods and runs, to look at and to measure with.
import { StackError } from '../embedded/stack-error.ts';
import { readyLineOf } from '../ready-file.ts';
import { chooseStack, fetchToken } from '../token/running-stack.ts';
import { madeUpRuns, type RunRow } from './made-up-runs.ts';
import { SeedApi } from './seed-methods.ts';
import { readSeedOptions, type SeedOptions, SeedUsageError, seedUsage } from './seed-options.ts';
import { type DeliveredRun, writeDeliveries } from './write-deliveries.ts';
import { openSeedDatabase, writeRuns } from './write-runs.ts';

const DELIVERIES = 600;
/** Of a token: it is good for 15 minutes. */
const TOKEN_AGE_MS = 10 * 60_000;

async function main(): Promise<void> {
  const options = readSeedOptions(process.argv.slice(2), process.env.INIT_CWD ?? process.cwd());
  if (options === 'help') return say(seedUsage.trimEnd());
  await seed(options);
}

async function seed({ dataDir, ...counts }: SeedOptions): Promise<void> {
  const stack = chooseStack(dataDir);
  const ready = readyLineOf(stack.dataDir);
  if (ready === null)
    throw new StackError('no_stack', `The stack with the data folder ${stack.dataDir} is still starting.`);
  say(`Filling ${stack.dataDir}. Runs are written straight into its tables: stop now (Ctrl-C) if its data matters.`);
  const api = new SeedApi(ready.base_url, tokens(stack));
  const [person, methods, keys] = [await api.whoami(), await api.methods(counts.methods), await api.keys()];
  say(`${methods.length} methods and ${keys.length} keys are saved.`);
  const sql = openSeedDatabase(ready.postgres_url);
  try {
    const [row] = await sql<{ count: number }[]>`select count(*)::int as count from scheduler.shards`;
    const shardCount = row?.count ?? 0;
    if (shardCount === 0) throw new StackError('no_stack', 'The stack has no run-scheduler yet.');
    const { runs, questions } = counts;
    const facts = { methods, keys, person, shardCount, nowMs: Date.now(), runs, questions };
    const delivered: DeliveredRun[] = [];
    await writeRuns(sql, ready.org_id, noting(madeUpRuns(facts), delivered), (count) => {
      if (count % 10_000 === 0 || count === counts.runs) say(`${count} runs are written.`);
    });
    await writeDeliveries(sql, ready.org_id, delivered);
    say(`Done. Open ${ready.base_url}`);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Passes the runs on, and keeps the last ended ones for deliveries. */
function* noting(runs: Iterable<RunRow>, delivered: DeliveredRun[]): Generator<RunRow> {
  for (const run of runs) {
    const { run_id: runId, status: event, state_since_ms: endedAtMs } = run;
    if (event === 'failed' || event === 'succeeded' || event === 'cancelled')
      delivered.push({ runId, event, endedAtMs });
    if (delivered.length > DELIVERIES) delivered.shift();
    yield run;
  }
}

/** An admin's token, renewed before it ends. */
function tokens(stack: ReturnType<typeof chooseStack>): () => Promise<string> {
  let token: Promise<string> | null = null;
  let madeAtMs = 0;
  return () => {
    if (token === null || Date.now() - madeAtMs > TOKEN_AGE_MS) {
      madeAtMs = Date.now();
      const request = {
        email: 'developer@example.com',
        organization: 'Local',
        role: 'admin',
        audience: 'machine',
      } as const;
      token = fetchToken(stack, request);
    }
    return token;
  };
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

main().catch((error: unknown) => {
  const usage = error instanceof SeedUsageError;
  const text = error instanceof Error ? (usage || error instanceof StackError ? error.message : error.stack) : error;
  process.stderr.write(`${text}\n${usage ? `\n${seedUsage}` : ''}`);
  process.exitCode = usage ? 2 : 1;
});
