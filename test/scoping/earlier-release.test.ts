// A database of the last release, with rows in every table, becomes what a new one is, and keeps its rows.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Sql } from '@methods/postgres/pool';
import { readTables } from './catalog.ts';
import { fillTables, ORG_A } from './organization-rows.ts';
import { openScopedDatabase, type ScopedDatabase } from './scoped-database.ts';

/** Files that the last release had. */
const LAST_RELEASE = { 'method-registry': 3, notifier: 2, 'run-scheduler': 4 };

let earlier: ScopedDatabase;
let fresh: ScopedDatabase;
before(async () => {
  [earlier, fresh] = await Promise.all([openScopedDatabase(LAST_RELEASE), openScopedDatabase()]);
});
after(() => Promise.all([earlier.close(), fresh.close()]));

async function schemaOf({ admin, schemas, serviceUser }: ScopedDatabase): Promise<unknown> {
  const indexes = await admin<{ definition: string; valid: boolean }[]>`
    select pg_get_indexdef(i.indexrelid) as definition, i.indisvalid as valid
    from pg_index i join pg_class c on c.oid = i.indrelid join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any(${[...schemas]}) order by 1`;
  const tables = await readTables(admin, schemas);
  const text = JSON.stringify({ tables, indexes }).replaceAll(serviceUser, 'service');
  return JSON.parse(text);
}

/** Rows by table. */
async function rowsOf(admin: Sql, names: readonly string[]): Promise<Record<string, number>> {
  const counts = await Promise.all(
    names.map(async (name) => {
      const [row] = await admin<{ rows: number }[]>`select count(*)::int as rows from ${admin(name)}`;
      return [name, row?.rows ?? 0] as const;
    }),
  );
  return Object.fromEntries(counts);
}

test('a database of the last release is migrated with all its rows to what a new one is', async () => {
  const { admin, schemas } = earlier;
  const tables = (await readTables(admin, schemas)).filter(({ columns }) => columns.some((c) => c.name === 'org_id'));
  await fillTables(admin, tables);
  const names = tables.map(({ name }) => name);
  const rows = await rowsOf(admin, names);
  assert.ok(Object.values(rows).every((count) => count > 0));
  await earlier.migrateAll();
  assert.deepEqual(await rowsOf(admin, names), rows);
  assert.deepEqual(await schemaOf(earlier), await schemaOf(fresh));
  // What new tables hold of the rows from before.
  const unfinished = await admin`select runs::int from scheduler.unfinished where org_id = ${ORG_A} order by shard`;
  assert.deepEqual(
    unfinished.map(({ runs }) => runs),
    [1, 1],
  );
  const due = await admin`
    select count(*)::int as deliveries from notifier.deliveries d
      join notifier.due_hosts h using (org_id, host) join notifier.due_organizations o using (org_id)
    where h.due_at <= d.due_at and o.due_at <= h.due_at`;
  assert.equal(due[0]?.deliveries, rows['notifier.deliveries']);
});
