// Brings one service's schema to the newest version, safely with several replicas starting at once.
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import Postgrator from 'postgrator';
import { wallOffOrganizations } from './organization-wall.ts';
import { openPool } from './pool.ts';
import { ensureReaderRole, readerRole } from './reader-role.ts';
import { safeDbError } from './safe-db-error.ts';

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
/** For other replicas that migrate now. */
const LOCK_WAIT_MS = 300_000;

/**
 * Names of the files applied now, none when up to date. Tables of rows that belong to organizations are walled off
 * without a file's doing. All of it is one transaction: a process that dies in the middle leaves the schema as it was
 * (so no `create index concurrently`). Throws MigrationError, without statements.
 */
export async function migrate(url: string, options: MigrateOptions): Promise<string[]> {
  const { schema } = options;
  if (!SCHEMA.test(schema)) throw new TypeError('not a schema name');
  const sql = openPool({
    url,
    applicationName: `migrate ${schema}`,
    max: 1,
    statementTimeoutMs: 0,
    lockTimeoutMs: LOCK_WAIT_MS,
    settings: { idle_in_transaction_session_timeout: '60s' },
  });
  try {
    return await sql.begin(async (transaction) => {
      await transaction`select pg_advisory_xact_lock(${lockKey(schema)})`;
      await ensureReaderRole(transaction, readerRole(schema));
      const execute = async (statements: string) => ({ rows: [...(await transaction.unsafe(statements).simple())] });
      const postgrator = new Postgrator({
        driver: 'pg',
        schemaTable: `${schema}.schema_version`,
        migrationPattern: `${fileURLToPath(options.folder).replace(/\/$/, '')}/*.sql`,
        validateChecksums: true,
        execQuery: execute,
        execSqlScript: async (statements: string) => void (await execute(statements)),
      });
      const applied = await postgrator.migrate();
      await wallOffOrganizations(transaction, schema);
      return applied.map((migration) => `${String(migration.version).padStart(4, '0')}.${migration.name}`);
    });
  } catch (error) {
    throw new MigrationError(`Schema ${schema} could not be migrated: ${reason(error)}`);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** Migrations hold no content of anybody: their server messages may be shown. */
function reason(error: unknown): string {
  const { code } = safeDbError(error);
  const text = error instanceof Error ? error.message : 'unknown';
  return code === 'unknown' ? text : `${text} (${code})`;
}

function lockKey(schema: string): string {
  return createHash('sha256').update(`migrate ${schema}`).digest().readBigInt64BE().toString();
}
