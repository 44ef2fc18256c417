// Refuses at start a database that may lose confirmed commits: every guarantee about runs depends on them.
import type { Sql } from './pool.ts';

const REQUIRED = ['fsync', 'full_page_writes', 'synchronous_commit'];

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
