// The notifier's database: its schema, and plans fit for tables that fill up.
import type { Logger } from '@methods/logging/logger';
import { ServiceDatabase } from '@methods/postgres/service-database';

const CONNECTIONS_MAX = 6;
const STATEMENT_TIMEOUT_MS = 5_000;

export function notifierDatabase(url: string, logger: Logger): ServiceDatabase {
  return new ServiceDatabase({
    url,
    applicationName: 'notifier',
    schema: 'notifier',
    migrations: new URL('../../migrations/', import.meta.url),
    logger,
    connectionsMax: CONNECTIONS_MAX,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    // A plan made while the tables were empty reads them whole once they are full; ours are cheap to make anew.
    settings: { plan_cache_mode: 'force_custom_plan' },
  });
}
