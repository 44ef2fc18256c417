// The files of a schema in order. Each is a transaction of its own, so that no lock of one is held while the next one
// reads a large table; in a new database those between two that run in steps share one. A file in steps runs statement
// by statement, outside of any. Such a file is for what would lock a large table: `create index concurrently`.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import Postgrator from 'postgrator';
import { wallOffOrganizations } from './organization-wall.ts';
import { ensureReaderRole, readerRole } from './reader-role.ts';
import type { Sql } from './sql.ts';

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

/** Names of those that were not applied before. */
export async function applyFiles(sql: Sql, schema: string, folder: URL): Promise<string[]> {
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
