// The node's pools of connections to Postgres, apart so that none waits for the work of another.
import type { Stoppable } from '@methods/base/stoppable';
import { openPool, type Sql } from '@methods/postgres/pool';
import { pageSettings, writerSettings } from './planner-settings.ts';

const STATEMENT_TIMEOUT_MS = 4_000;
const END_SECONDS_MAX = 2;

export interface Pools extends Stoppable {
  /** Writes runs, one batch on each connection. */
  readonly writer: Sql;
  /** Shards and beats wait behind nothing else. */
  readonly shards: Sql;
  readonly beats: Sql;
  /** Nothing else waits behind the files of runs. */
  readonly folders: Sql;
  readonly files: Sql;
  /** Old runs go one statement at a time. */
  readonly retention: Sql;
  /** A backlog of events does not take the readers' connections. */
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
    outbox: pool(2, pageSettings),
  };
  return {
    ...pools,
    async stop() {
      await Promise.all(Object.values(pools).map((sql) => sql.end({ timeout: END_SECONDS_MAX })));
    },
  };
}
