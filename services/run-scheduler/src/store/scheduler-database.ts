// The scheduler's database: its schema, the connections of its readers, and the pools of the node's other parts.

import type { Stoppable } from '@methods/base/stoppable';
import type { Logger } from '@methods/logging/logger';
import { openPool, type Sql } from '@methods/postgres/pool';
import { ServiceDatabase } from '@methods/postgres/service-database';

// Planner settings of connections whose statements walk indexes: plans made on young tables, or by estimates that do
// not expect a backlog, are bad for full tables.

/** Planner settings of the writing connection. */
export const writerSettings = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_material: 'off',
  plan_cache_mode: 'force_generic_plan',
  jit: 'off',
} as const;

/** For connections that read pages: in the order of an index, so that a page reads no more than it returns. */
export const pageSettings = {
  ...writerSettings,
  enable_bitmapscan: 'off',
  enable_sort: 'off',
  enable_incremental_sort: 'off',
} as const;

const MIGRATIONS = new URL('../../migrations/', import.meta.url);

export function schedulerDatabase(url: string, applicationName: string, logger: Logger): ServiceDatabase {
  const settings = pageSettings;
  return new ServiceDatabase({ url, applicationName, schema: 'scheduler', migrations: MIGRATIONS, settings, logger });
}

const STATEMENT_TIMEOUT_MS = 4_000;
const END_SECONDS_MAX = 2;

/** The node's connection pools, separate so that none waits for the work of another. */
interface Pools extends Stoppable {
  /** Writes runs, one batch on each connection. */
  readonly writer: Sql;
  /** Shards and beats never wait for other work. */
  readonly shards: Sql;
  readonly beats: Sql;
  /** Files of runs delay no other work. */
  readonly folders: Sql;
  readonly files: Sql;
  /** Deletes old runs, one statement at a time. */
  readonly retention: Sql;
  /** Changes of many runs. */
  readonly bulk: Sql;
  /** Separate, so that a backlog of events does not take the readers' connections. */
  readonly outbox: Sql;
}

export function openPools(url: string, applicationName: string): Pools {
  const pool = (max: number, settings: Readonly<Record<string, string>> = {}): Sql =>
    openPool({ url, applicationName, max, statementTimeoutMs: STATEMENT_TIMEOUT_MS, settings });
  const pools = {
    writer: pool(2, writerSettings),
    shards: pool(3),
    beats: pool(2),
    folders: pool(4, pageSettings),
    files: pool(2, pageSettings),
    retention: pool(1, writerSettings),
    bulk: pool(2, pageSettings),
    outbox: pool(2, pageSettings),
  };
  return {
    ...pools,
    async stop() {
      await Promise.all(Object.values(pools).map((sql) => sql.end({ timeout: END_SECONDS_MAX })));
    },
  };
}
