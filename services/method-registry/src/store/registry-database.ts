// The registry's database from the first connection to the last: waited for, checked, brought to the newest schema.
import { setTimeout as wait } from 'node:timers/promises';
import { Backoff } from '@methods/base/backoff';
import { type Clock, systemClock } from '@methods/base/clock';
import type { Stoppable } from '@methods/base/stoppable';
import type { Logger } from '@methods/logging/logger';
import { withDeadline } from '@methods/postgres/deadline';
import { refuseUnsafeServer } from '@methods/postgres/durability';
import { migrate } from '@methods/postgres/migrate';
import { openPool } from '@methods/postgres/pool';
import { safeDbError, sqlState } from '@methods/postgres/safe-db-error';
import type { Database } from './query.ts';

const MIGRATIONS = new URL('../../migrations/', import.meta.url);
const CONNECTIONS_MAX = 16;
const STATEMENT_TIMEOUT_MS = 4_000;
const CHECK_DEADLINE_MS = 5_000;
const STOP_TIMEOUT_S = 5;

export class DatabaseUnreachable extends Error {
  override readonly name = 'DatabaseUnreachable';
}

export class RegistryDatabase implements Stoppable {
  readonly sql: Database;
  private readonly stopping = new AbortController();
  private reached = false;

  /** `patienceMs` is how long a server that is not there yet is waited for: services start together. */
  constructor(
    private readonly url: string,
    private readonly logger: Logger,
    private readonly patienceMs = 30_000,
    private readonly clock: Clock = systemClock,
  ) {
    this.sql = openPool({
      url,
      applicationName: 'method-registry',
      max: CONNECTIONS_MAX,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    });
  }

  /** @throws DatabaseUnreachable, UnsafeServerError, MigrationError: each a sentence for the operator. */
  async start(): Promise<void> {
    await this.reach();
    await migrate(this.url, { schema: 'registry', folder: MIGRATIONS });
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    // A query that waits for a server which never came has nothing to finish.
    await this.sql.end({ timeout: this.reached ? STOP_TIMEOUT_S : 0 });
  }

  private async reach(): Promise<void> {
    const deadlineMs = this.clock.monotonicMs() + this.patienceMs;
    const backoff = new Backoff({ firstMs: 100, maxMs: 1_000 });
    for (;;) {
      try {
        await withDeadline(refuseUnsafeServer(this.sql), CHECK_DEADLINE_MS);
        this.reached = true;
        return;
      } catch (error) {
        if (this.stopping.signal.aborted || !mayHeal(error)) throw refused(error);
        const waitMs = backoff.nextMs();
        if (this.clock.monotonicMs() + waitMs > deadlineMs) {
          const seconds = Math.round(this.patienceMs / 1000);
          throw new DatabaseUnreachable(
            `Postgres could not be reached within ${seconds} s (${safeDbError(error).code}): check POSTGRES_URL.`,
          );
        }
        this.logger.warn({ error }, 'waiting for Postgres');
        await wait(waitMs, undefined, { signal: this.stopping.signal });
      }
    }
  }
}

/** No answer at all, or one of a server that starts, stops or is full. */
function mayHeal(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== null) return /^(08|53|57)/.test(state);
  return typeof (error as { code?: unknown } | null)?.code === 'string';
}

function refused(error: unknown): unknown {
  if (sqlState(error) === null) return error;
  return new DatabaseUnreachable(`Postgres refuses the registry (${safeDbError(error).code}): check POSTGRES_URL.`);
}
