// The notifier's database: its schema, and plans that suit growing tables.
import type { Logger } from '@methods/logging/logger';
import { ServiceDatabase } from '@methods/postgres/service-database';

const CONNECTIONS_MAX = 6;
const STATEMENT_TIMEOUT_MS = 5_000;

/**
 * Every statement here reads a few rows through an index. On a table that grew a moment ago, a planner that guesses
 * reads all of it; and a plan made while the tables were empty is kept. Ours are cheap to plan again.
 */
const PLANNER = {
  plan_cache_mode: 'force_custom_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
};

export function notifierDatabase(url: string, logger: Logger): ServiceDatabase {
  return new ServiceDatabase({
    url,
    applicationName: 'notifier',
    schema: 'notifier',
    migrations: new URL('../../migrations/', import.meta.url),
    logger,
    connectionsMax: CONNECTIONS_MAX,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    settings: PLANNER,
  });
}
