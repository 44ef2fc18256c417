// Makes and drops whole databases.
import postgres from 'postgres';

const NAME = /^[a-z][a-z0-9_]{0,62}$/;

/**
 * Makes a database `name`, empty or a copy of `template`, which has no sessions, and returns its URL, with the user of
 * `adminUrl`. Fails when it exists.
 */
export async function createDatabase(adminUrl: string, name: string, template = 'template1'): Promise<string> {
  await asAdmin(adminUrl, name, (sql) => sql`create database ${sql(name)} template ${sql(template)}`);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** Breaks off its sessions; a database that is not there is fine. */
export async function dropDatabase(adminUrl: string, name: string): Promise<void> {
  await asAdmin(adminUrl, name, (sql) => sql`drop database if exists ${sql(name)} with (force)`);
}

async function asAdmin(adminUrl: string, name: string, work: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  if (!NAME.test(name)) throw new TypeError(`not a database name: ${name.slice(0, 64)}`);
  const sql = postgres(adminUrl, { max: 1, onnotice: () => {}, connect_timeout: 10, fetch_types: false });
  try {
    await work(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
