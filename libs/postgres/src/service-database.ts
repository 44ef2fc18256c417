// A service's database from the first connection to the last: awaited, checked, and migrated to the newest schema.
import { setTimeout as wait } from 'node:timers/promises';
import { Backoff } from '@methods/base/backoff';
import { type Clock, systemClock } from '@methods/base/clock';
import type { Stoppable } from '@methods/base/stoppable';
import { ServiceError } from '@methods/errors/service-error';
import type { Logger } from '@methods/logging/logger';
import { isPassingFault, safeDbError, sqlState } from './database-fault.ts';
import { withDeadline } from './deadline.ts';
import { MigrationError, migrate } from './migrate.ts';
import { openPool, type Sql } from './pool.ts';

const CONNECTIONS_MAX = 16;
const STATEMENT_TIMEOUT_MS = 4_000;
/** How long to wait for a server that is not available yet, since services start together. */
const PATIENCE_MS = 30_000;
const CHECK_DEADLINE_MS = 5_000;
const STOP_TIMEOUT_S = 5;

export class DatabaseUnreachable extends Error {
  override readonly name = 'DatabaseUnreachable';
}

interface ServiceDatabaseOptions {
  readonly url: string;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  /** The service's own schema; no other service reads it. */
  readonly schema: string;
  /** Folder of its migrations. */
  readonly migrations: URL;
  readonly logger: Pick<Logger, 'warn'>;
  readonly connectionsMax?: number;
  readonly statementTimeoutMs?: number;
  /** Further session settings, for example the planner's. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly patienceMs?: number;
  readonly clock?: Clock;
}

export class ServiceDatabase implements Stoppable {
  readonly sql: Sql;
  private readonly stopping = new AbortController();
  private reached = false;

  constructor(private readonly options: ServiceDatabaseOptions) {
    this.sql = openPool({
      url: options.url,
      applicationName: options.applicationName,
      max: options.connectionsMax ?? CONNECTIONS_MAX,
      statementTimeoutMs: options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
      ...(options.settings === undefined ? {} : { settings: options.settings }),
    });
  }

  /** @throws DatabaseUnreachable, UnsafeServerError, MigrationError: each a sentence for the operator. */
  async start(): Promise<void> {
    await this.untilDone(() => withDeadline(refuseUnsafeServer(this.sql), CHECK_DEADLINE_MS));
    this.reached = true;
    const { url, schema, migrations } = this.options;
    await this.untilDone(() => migrate(url, { schema, folder: migrations }));
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    // A query that waits for a server that never came has nothing to finish.
    await this.sql.end({ timeout: this.reached ? STOP_TIMEOUT_S : 0 });
  }

  /**
   * Repeats the work while the server is unavailable: for a service's reads and writes at its start, which may have
   * been done before. @throws DatabaseUnreachable after 30 s, and permanent faults at once.
   */
  async untilDone<T>(work: () => Promise<T>): Promise<T> {
    const { clock = systemClock, patienceMs = PATIENCE_MS } = this.options;
    const deadlineMs = clock.monotonicMs() + patienceMs;
    const backoff = new Backoff({ firstMs: 100, maxMs: 1_000 });
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (this.stopping.signal.aborted || !mayHeal(error)) throw refused(error);
        const waitMs = backoff.nextMs();
        if (clock.monotonicMs() + waitMs > deadlineMs) {
          const seconds = Math.round(patienceMs / 1000);
          throw new DatabaseUnreachable(
            `Postgres could not be reached within ${seconds} s (${safeDbError(error).code}): check POSTGRES_URL.`,
          );
        }
        this.options.logger.warn({ error }, 'waiting for Postgres');
        await wait(waitMs, undefined, { signal: this.stopping.signal });
      }
    }
  }
}

/**
 * Reports whether there was no answer at all, or one of a server that starts, stops, is full or turned into a reader.
 */
function mayHeal(error: unknown): boolean {
  if (error instanceof MigrationError) return mayHeal(error.cause);
  // A store's code for a fault of the connection.
  if (error instanceof ServiceError) return error.code === 'unavailable';
  const state = sqlState(error);
  return state === null ? isPassingFault(error) : /^(08|25006|53|57)/.test(state);
}

function refused(error: unknown): unknown {
  if (sqlState(error) === null) return error;
  return new DatabaseUnreachable(`Postgres refuses this service (${safeDbError(error).code}): check POSTGRES_URL.`);
}

const REQUIRED = ['fsync', 'full_page_writes', 'synchronous_commit'];

/** Refuses at start a database that may lose confirmed commits: every guarantee about runs depends on them. */
export class UnsafeServerError extends Error {
  override readonly name = 'UnsafeServerError';
}

/** Throws UnsafeServerError when fsync, full_page_writes or synchronous_commit is off. */
export async function refuseUnsafeServer(sql: Sql): Promise<void> {
  const rows = await sql<{ name: string }[]>`
    select name from pg_settings where name = any(${REQUIRED}) and setting = 'off' order by name`;
  if (rows.length === 0) return;
  const names = rows.map((row) => row.name).join(', ');
  throw new UnsafeServerError(`This Postgres may lose confirmed commits: turn on ${names}.`);
}
