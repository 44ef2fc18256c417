// The notifier's connection to Postgres, and its schema brought up to date.
import type { Clock } from '@methods/base/clock';
import { refuseUnsafeServer } from '@methods/postgres/durability';
import { migrate } from '@methods/postgres/migrate';
import { openPool, type Sql } from '@methods/postgres/pool';

const CONNECTIONS_MAX = 6;
const STATEMENT_TIMEOUT_MS = 5_000;
const WAIT_FOR_SERVER_MS = 30_000;
const BETWEEN_TRIES_MS = 250;

/** Connects with the first query. */
export function openDatabase(url: string): Sql {
  return openPool({
    url: withCustomPlans(url),
    applicationName: 'notifier',
    max: CONNECTIONS_MAX,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
}

/** Waits for a server that is starting, at most 30 s; then checks that it keeps what it confirms, and migrates. */
export async function prepareDatabase(sql: Sql, url: string, clock: Clock): Promise<void> {
  await waitForServer(sql, clock);
  await refuseUnsafeServer(sql);
  await migrate(url, { schema: 'notifier', folder: new URL('../../migrations/', import.meta.url) });
}

async function waitForServer(sql: Sql, clock: Clock): Promise<void> {
  const untilMs = clock.monotonicMs() + WAIT_FOR_SERVER_MS;
  for (;;) {
    try {
      await sql`select 1`;
      return;
    } catch (error) {
      if (clock.monotonicMs() > untilMs) throw error;
      await new Promise<void>((resolve) => setTimeout(resolve, BETWEEN_TRIES_MS));
    }
  }
}

/** A plan made while the tables were empty reads them whole once they are full; ours are cheap to make anew. */
function withCustomPlans(url: string): string {
  const parsed = new URL(url);
  parsed.searchParams.set('plan_cache_mode', 'force_custom_plan');
  return parsed.href;
}
