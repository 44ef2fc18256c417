// Looks for a text everywhere a stack keeps something: the rows of all tables, and the files below its data folder.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type postgres from 'postgres';

/** `schema.table` of every table with a row that holds one of the texts, as text or as bytes. */
export async function tablesHolding(sql: postgres.Sql, texts: readonly string[]): Promise<string[]> {
  const tables = await sql<{ schema: string; name: string }[]>`
    select table_schema as schema, table_name as name from information_schema.tables
    where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'`;
  const wanted = texts.flatMap((text) => [`%${text}%`, `%${Buffer.from(text).toString('hex')}%`]);
  const found: string[] = [];
  for (const { schema, name } of tables) {
    const [row] = await sql<{ holds: boolean }[]>`
      select exists (select from ${sql(schema)}.${sql(name)} as row where row::text ilike any(${wanted})) as holds`;
    if (row?.holds) found.push(`${schema}.${name}`);
  }
  return found;
}

/** Paths of the files below `folder` that hold one of the texts. */
export function filesHolding(folder: string, texts: readonly string[], isWanted: (path: string) => boolean): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter(isWanted)
    .filter((path) => {
      const bytes = readFileSync(path);
      return texts.some((text) => bytes.includes(text));
    });
}
