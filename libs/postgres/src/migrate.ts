// Migrates one service's schema to the newest version, safely with several replicas starting at once, and in separate
// transactions, since a transaction locks everything it touches until its end.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import Postgrator from 'postgrator';
import { safeDbError } from './database-fault.ts';
import { ensureReaderRole, readerRole } from './organization-reader.ts';
import { openPool } from './pool.ts';
import type { Sql, TransactionSql } from './sql.ts';

/**
 * The first line of a file that runs in steps. Its statements end with `;` at the end of a line. It makes no table. A
 * process that dies in the middle of it leaves the first of them done, and an index that was being made as an invalid
 * one; then all run again. So each can be repeated, and one that makes an index follows one that drops it if it exists.
 */
const IN_STEPS = '-- In steps.\n';

type Execute = (statements: string) => Promise<{ rows: object[] }>;

interface Part {
  readonly toVersion: number;
  readonly inSteps: boolean;
}

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

/**
 * The files of a schema in order. Each is a transaction of its own, so that no lock of one is held while the next one
 * reads a large table; in a new database those between two that run in steps share one. A file in steps runs statement
 * by statement, outside of any. Such a file is for what would lock a large table: `create index concurrently`. Names of
 * those that were not applied before.
 */
async function applyFiles(sql: Sql, schema: string, folder: URL): Promise<string[]> {
  const path = fileURLToPath(folder).replace(/\/$/, '');
  const postgrator = (execute: Execute, executeScript: Execute) =>
    new Postgrator({
      driver: 'pg',
      schemaTable: `${schema}.schema_version`,
      migrationPattern: `${path}/*.sql`,
      validateChecksums: true,
      execQuery: execute,
      execSqlScript: async (script: string) => void (await executeScript(script)),
    });
  const outside: Execute = async (statements) => ({ rows: [...(await sql.unsafe(statements).simple())] });
  const inSteps: Execute = async (script) => {
    for (const statement of stepsOf(script)) await outside(statement);
    return { rows: [] };
  };
  const outer = postgrator(outside, inSteps);
  const files = (await outer.getMigrations()).filter((file) => file.action === 'do');
  const version = await versionOf(sql, schema);
  const applied: string[] = [];
  const parts = partsOf(files, version === 0);
  for (const [n, part] of parts.entries()) {
    // The last one runs in any case: it finds an applied file that was changed.
    if (part.toVersion <= version && n < parts.length - 1) continue;
    const target = String(part.toVersion);
    const names = part.inSteps
      ? await outer.migrate(target)
      : await sql.begin(async (transaction) => {
          const inside: Execute = async (statements) => ({
            rows: [...(await transaction.unsafe(statements).simple())],
          });
          await ensureReaderRole(transaction, readerRole(schema));
          const names = await postgrator(inside, inside).migrate(target);
          await wallOffOrganizations(transaction, schema);
          return names;
        });
    applied.push(...names.map((file) => `${String(file.version).padStart(4, '0')}.${file.name}`));
  }
  return applied;
}

async function versionOf(sql: Sql, schema: string): Promise<number> {
  const [table] = await sql<{ there: boolean }[]>`
    select to_regclass(${`${schema}.schema_version`}) is not null as there`;
  if (!table?.there) return 0;
  const [row] = await sql<{ version: number }[]>`
    select coalesce(max(version), 0)::int as version from ${sql(`${schema}.schema_version`)}`;
  return row?.version ?? 0;
}

function partsOf(files: readonly Postgrator.Migration[], isNew: boolean): Part[] {
  const parts: Part[] = [];
  for (const { version, filename } of [...files].sort((a, b) => a.version - b.version)) {
    const inSteps = readFileSync(filename, 'utf8').startsWith(IN_STEPS);
    if (isNew && !inSteps && parts.at(-1)?.inSteps === false) parts.pop();
    parts.push({ toVersion: version, inSteps });
  }
  return parts;
}

function stepsOf(script: string): string[] {
  return script.split(/;[ \t]*(?:\n|$)/).filter((statement) => statement.replace(/--.*$/gm, '').trim() !== '');
}

// The second protection between organizations: one organization's rows are read as the schema's reader role, which sees
// only the rows of methods.org_id, even in a query that forgets its condition.

/**
 * Adds row-level security to each table of the schema that has the column `org_id` and no policy yet, and lets the
 * schema's reader role select from it. The current user, who must own the tables, still reads and writes all rows.
 * `schema` must be a plain name, and its reader role must exist.
 */
export async function wallOffOrganizations(transaction: TransactionSql, schema: string): Promise<void> {
  await transaction.unsafe(walling(schema, readerRole(schema))).simple();
}

const walling = (schema: string, role: string) => `
do $$
declare
  organization_table regclass;
begin
  for organization_table in
    select c.oid from pg_class c
      join pg_namespace n on n.oid = c.relnamespace and n.nspname = '${schema}'
      join pg_attribute a on a.attrelid = c.oid and a.attname = 'org_id' and not a.attisdropped
    where c.relkind in ('r', 'p') and not (c.relrowsecurity and c.relforcerowsecurity)
    order by c.relname
  loop
    -- FORCE holds for the owner as well: the service's own user has a policy of its own.
    execute format('alter table %s enable row level security, force row level security', organization_table);
    execute format('create policy service on %s to current_user using (true) with check (true)', organization_table);
    -- Never set, it is null; after a transaction that set it, ''. Neither finds a row.
    execute format('create policy one_organization on %s for select to ${role}
      using (org_id = nullif(current_setting(''methods.org_id'', true), ''''))', organization_table);
    execute format('grant select on %s to ${role}', organization_table);
    grant usage on schema ${schema} to ${role};
  end loop;
end
$$`;
