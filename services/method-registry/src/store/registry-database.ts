// The registry's database: its schema, and plans fit for tables that fill up.
import type { Logger } from '@methods/logging/logger';
import { ServiceDatabase } from '@methods/postgres/service-database';

/**
 * Every statement here reads a few rows by an index, in its order. A planner without statistics, or with those of the
 * largest organization, reads all rows of an organization and sorts them.
 */
const PLANNER = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
};

export function registryDatabase(url: string, logger: Pick<Logger, 'warn'>): ServiceDatabase {
  return new ServiceDatabase({
    url,
    applicationName: 'method-registry',
    schema: 'registry',
    migrations: new URL('../../migrations/', import.meta.url),
    logger,
    settings: PLANNER,
  });
}
