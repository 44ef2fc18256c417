// Migrates one service's schema to the newest version, safely with several replicas starting at once, and in separate
// transactions, since a transaction locks everything it touches until its end.
import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { safeDbError } from './database-fault.ts';
import { applyFiles } from './migration-files.ts';
import { openPool, type Sql } from './pool.ts';

export interface MigrateOptions {
  /** Also holds the table `schema_version`. Its reader role (`<schema>_reader`) is there before the first file. */
  readonly schema: string;
  /** Folder URL of `0001.do.<name>.sql` files; applied ones must never change. */
  readonly folder: URL;
}

export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

const SCHEMA = /^[a-z][a-z0-9_]{0,40}$/;
/** For other replicas that migrate now, and for the locks of statements. */
const LOCK_WAIT_MS = 300_000;
const LOCK_AGAIN_MS = 200;

/**
 * Names of the files applied now, none when up to date. Tables of rows that belong to organizations get row-level
 * security automatically. Each file is one transaction, of a new database all up to the next one that runs in steps: a
 * process that dies in the middle leaves the schema as it was before the file. Throws MigrationError, without
 * statements.
 */
export async function migrate(url: string, options: MigrateOptions): Promise<string[]> {
  const { schema, folder } = options;
  if (!SCHEMA.test(schema)) throw new TypeError('not a schema name');
  const open = (settings: Readonly<Record<string, string>>) =>
    openPool({
      url,
      applicationName: `migrate ${schema}`,
      max: 1,
      statementTimeoutMs: 0,
      lockTimeoutMs: LOCK_WAIT_MS,
      settings,
    });
  const sql = open({ idle_in_transaction_session_timeout: '60s' });
  // Holds the lock while the files run on the other one: some of them run outside of any transaction.
  const holder = open({ idle_in_transaction_session_timeout: '0' });
  try {
    return await alone(holder, schema, () => applyFiles(sql, schema, folder));
  } catch (error) {
    throw new MigrationError(`Schema ${schema} could not be migrated: ${reason(error)}`, { cause: safeDbError(error) });
  } finally {
    await Promise.all([sql.end({ timeout: 5 }), holder.end({ timeout: 5 })]);
  }
}

/**
 * Never waits inside of a statement: `create index concurrently` waits for every statement that began before it, also
 * for one that waits for this lock.
 */
async function alone<Result>(holder: Sql, schema: string, work: () => Promise<Result>): Promise<Result> {
  const key = createHash('sha256').update(`migrate ${schema}`).digest().readBigInt64BE().toString();
  for (const untilMs = performance.now() + LOCK_WAIT_MS; ; ) {
    const outcome = await holder.begin(async (transaction) => {
      // As a simple query: what the extended protocol leaves open keeps its snapshot, which an index would wait for too.
      const [row] = await transaction
        .unsafe<{ mine: boolean }[]>(`select pg_try_advisory_xact_lock(${key}) as mine`)
        .simple();
      return row?.mine ? { result: await work() } : null;
    });
    if (outcome !== null) return outcome.result;
    if (performance.now() > untilMs) throw new Error('another process has held the lock for too long');
    await wait(LOCK_AGAIN_MS * (0.5 + Math.random()));
  }
}

/** Migrations hold no content: their server messages may be shown. */
function reason(error: unknown): string {
  const { code } = safeDbError(error);
  const text = error instanceof Error ? error.message : 'unknown';
  return code === 'unknown' ? text : `${text} (${code})`;
}
