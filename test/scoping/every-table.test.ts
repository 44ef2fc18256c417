// Every table of every service, as the database's catalog lists them: no row of an organization can be read, changed,
// referenced or guessed by another, also by a query that forgets its condition. A new table without row-level security
// fails here until it has it, or until it is listed below with its reason.

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { OrgId } from '@methods/base/ids';
import { sqlState } from '@methods/postgres/database-fault';
import { readerRole } from '@methods/postgres/organization-reader';
import type { Sql, TransactionSql } from '@methods/postgres/sql';
import { type ForeignKey, readDetours, readTables, type Table } from './catalog.ts';
import { fillTables, ORG_A, ORG_B, type Row, rowOf, SETS_A, SETS_B } from './organization-rows.ts';
import { openScopedDatabase } from './scoped-database.ts';

/** Tables of no organization: no reader may see them. */
const GLOBAL_TABLES: Readonly<Record<string, string>> = {
  'notifier.schema_version': 'the migrations of the schema',
  'registry.schema_version': 'the migrations of the schema',
  'registry.sign_ins': 'a sign-in under way belongs to no one yet; found by the hash of its cookie',
  'scheduler.nodes': 'processes of ours',
  'scheduler.schema_version': 'the migrations of the schema',
  'scheduler.shards': 'runs of many organizations share a shard',
};

/** Keys of the whole world: an insert that meets one reveals another organization's row, so no one may guess them. */
const GLOBAL_KEYS: Readonly<Record<string, string>> = {
  'notifier.answer_links_token_key': 'hash of 256 secret bits; the organization follows from the link',
  'registry.organizations_external_key': 'the issuer names organizations; only its tokens lead here',
  'registry.service_keys_auth_key': 'hash of 256 random bits; the organization follows from the key',
  'registry.sessions_hash_key': 'hash of 256 random bits; the organization follows from the cookie',
  'registry.uploads_token_key': 'hash of 256 random bits; the organization follows from the token',
};

const database = await openScopedDatabase();
after(() => database.close());
const { admin, service, schemas } = database;
const tables = await readTables(admin, schemas);
const walled = tables.filter((table) => !(table.name in GLOBAL_TABLES));
await fillTables(
  admin,
  walled.filter((table) => table.columns.some((column) => column.name === 'org_id')),
);

type AnySql = Sql | TransactionSql;
const all = (sql: AnySql, table: Table) => sql<{ org_id: string }[]>`select * from ${sql(table.name)}`;
const organizationsIn = (rows: readonly { readonly org_id: string }[]) => [...new Set(rows.map((row) => row.org_id))];
const refused = (state: string, constraint?: string) => (error: unknown) =>
  sqlState(error) === state &&
  (constraint === undefined || (error as { constraint_name?: string }).constraint_name === constraint);

/** As the reader for an organization, in a transaction that may write: what refuses is the role, not the mode. */
function asReader<Result>(table: Table, orgId: string | null, work: (sql: TransactionSql) => Promise<Result>) {
  return service.begin(async (sql) => {
    await sql.unsafe(`set local role ${readerRole(table.schema)}`);
    if (orgId !== null) await sql`select set_config('methods.org_id', ${orgId}, true)`;
    return await work(sql);
  });
}

describe('the tables', () => {
  test('are those of all services, and each named exception still is one', () => {
    assert.ok(walled.length >= 20, `${walled.length} tables`);
    const names = new Set(tables.map((table) => table.name));
    assert.deepEqual(
      Object.keys(GLOBAL_TABLES).filter((name) => !names.has(name)),
      [],
    );
    const keys = new Set(tables.flatMap((table) => table.uniques.map((index) => index.name)));
    assert.deepEqual(
      Object.keys(GLOBAL_KEYS).filter((name) => !keys.has(name)),
      [],
    );
  });

  test('have no view or function that reads past their policies', async () => {
    assert.deepEqual(await readDetours(admin, schemas), []);
  });

  test('are read by a role that owns nothing and that no policy passes by', async () => {
    const roles = schemas.map(readerRole);
    const attributes = await admin`
      select rolname from pg_roles r where rolname = any(${roles}) and not (rolsuper or rolbypassrls or rolcanlogin)
        and not exists (select from pg_class where relowner = r.oid)
        and not exists (select from pg_auth_members where member = r.oid) order by rolname`;
    assert.deepEqual(
      attributes.map((row) => row.rolname),
      roles.sort(),
    );
  });

  for (const table of tables.filter(({ name }) => name in GLOBAL_TABLES)) {
    test(`${table.name} belongs to no organization, and no reader may see it`, () => {
      assert.deepEqual(
        table.columns.filter((column) => column.name === 'org_id'),
        [],
      );
      assert.deepEqual(table.rights, []);
    });
  }
});

for (const table of walled) {
  describe(table.name, () => {
    const reader = database.readerOf(table.schema);
    const role = readerRole(table.schema);

    test('is walled off by row-level security, for its owner too', () => {
      const { owner, rowSecurity, forced, policies, rights } = table;
      const orgId = table.columns.find((column) => column.name === 'org_id');
      assert.deepEqual({ type: orgId?.type, optional: orgId?.optional }, { type: 'text', optional: false });
      assert.deepEqual(
        { owner, rowSecurity, forced },
        { owner: database.serviceUser, rowSecurity: true, forced: true },
      );
      const mine = "(org_id = NULLIF(current_setting('methods.org_id'::text, true), ''::text))";
      const one = { permissive: 'PERMISSIVE', roles: [role], command: 'SELECT', using: mine, check: null };
      const every = { permissive: 'PERMISSIVE', roles: [owner], command: 'ALL', using: 'true', check: 'true' };
      assert.deepEqual(
        policies.map((policy) => ({ ...policy })),
        [
          { name: 'one_organization', ...one },
          { name: 'service', ...every },
        ],
      );
      assert.deepEqual(rights, [`${role}: SELECT`]);
    });

    test('has the organization in every key', () => {
      assert.ok(table.uniques.some((index) => index.primary));
      for (const { name, columns } of table.uniques) {
        assert.ok(columns.includes('org_id') || name in GLOBAL_KEYS, `${name} (${columns.join(', ')})`);
      }
      for (const { name, columns, targetColumns } of table.foreignKeys) {
        assert.ok(columns.includes('org_id'), name);
        assert.equal(targetColumns[columns.indexOf('org_id')], 'org_id', name);
      }
    });

    test('shows a reader only one organization when the query names none', async () => {
      for (const orgId of [ORG_A, ORG_B]) {
        const rows = await reader.read(orgId as OrgId, (sql) => all(sql, table));
        assert.ok(rows.length > 0);
        assert.deepEqual(organizationsIn(rows), [orgId]);
      }
    });

    test('shows the service every organization, which must have rows to hide', async () => {
      assert.deepEqual(organizationsIn(await all(service, table)).sort(), [ORG_A, ORG_B]);
    });

    test('does not show a foreign row to a reader who knows its key', async () => {
      const key = table.uniques.find((index) => index.primary)?.columns ?? [];
      const [row] =
        await service`select * from ${service(table.name)} where org_id = ${ORG_B} order by ${service(key)} desc`;
      assert.ok(row !== undefined);
      const find = (sql: TransactionSql) => {
        const conditions = key.map((column) => sql`${sql(column)} = ${row[column]}`);
        return sql`select from ${sql(table.name)}
          where ${conditions.reduce((found, condition) => sql`${found} and ${condition}`)}`;
      };
      assert.equal((await reader.read(ORG_B as OrgId, find)).length, 1);
      assert.equal((await reader.read(ORG_A as OrgId, find)).length, 0);
    });

    test('shows nothing without an organization', async () => {
      for (const orgId of [null, '', '%', `${ORG_A}' or true --`]) {
        assert.deepEqual([...(await asReader(table, orgId, (sql) => all(sql, table)))], []);
      }
      // A setting that ended with its transaction is not null but empty.
      await reader.read(ORG_A as OrgId, (sql) => all(sql, table));
      assert.deepEqual([...(await asReader(table, null, (sql) => all(sql, table)))], []);
    });

    test('takes no change from a reader, not even of its own organization', async () => {
      const row = rowOf(table, ORG_A, 9) as Record<string, string>;
      const changes: ((sql: TransactionSql) => Promise<unknown>)[] = [
        (sql) => sql`insert into ${sql(table.name)} ${sql(row)}`,
        (sql) => sql`update ${sql(table.name)} set org_id = ${ORG_B}`,
        (sql) => sql`delete from ${sql(table.name)}`,
        (sql) => sql`truncate ${sql(table.name)}`,
        (sql) => sql`alter table ${sql(table.name)} disable row level security`,
      ];
      for (const change of changes) await assert.rejects(asReader(table, ORG_A, change), refused('42501'));
    });

    for (const foreignKey of table.foreignKeys.filter(({ columns }) => columns.length > 1)) {
      test(`cannot refer to a foreign row by ${foreignKey.name}`, async () => {
        const [own] = SETS_A.slice(-1);
        const [foreign] = SETS_B.slice(-1);
        // The row there is one to refer to: A's own, in place of the foreign one.
        await pointing(table, foreignKey, ORG_A, own);
        const key = foreignKey.name;
        await assert.rejects(pointing(table, foreignKey, ORG_B, foreign), refused('23503', key));
      });
    }
  });
}

/**
 * Has A's first row refer to a row of `orgId`, under A's own org_id, with nothing but this foreign key in the way. The
 * change is undone.
 */
async function pointing(table: Table, foreignKey: ForeignKey, orgId: string, set: number | undefined): Promise<void> {
  const target = tables.find(({ name }) => name === foreignKey.target);
  assert.ok(target !== undefined && set !== undefined);
  const there: Row = rowOf(target, orgId, set);
  const here = rowOf(table, ORG_A, 1);
  const key = table.uniques.find((index) => index.primary)?.columns ?? [];
  const undo = new Error('undo');
  const change = admin.begin(async (sql) => {
    await sql.unsafe(`alter table ${table.name} disable trigger user`);
    for (const { name, foreignKeys, checks } of tables) {
      const others = foreignKeys.filter((other) => name !== table.name || other.name !== foreignKey.name);
      const inTheWay = [...others.map((other) => other.name), ...checks];
      if (inTheWay.length > 0) {
        await sql.unsafe(`alter table ${name} ${inTheWay.map((other) => `drop constraint ${other}`).join(', ')}`);
      }
    }
    // Its unique keys are taken by A's second row, unless that is the row to refer to.
    if (table.name !== foreignKey.target) {
      await sql`delete from ${sql(table.name)} where org_id = ${ORG_A} and not (${matches(sql, key, here)})`;
    }
    const values: Record<string, unknown> = {};
    foreignKey.columns.forEach((column, place) => {
      if (column !== 'org_id') values[column] = there[foreignKey.targetColumns[place] ?? ''];
    });
    const changed = await sql`update ${sql(table.name)} set ${sql(values as Record<string, string>)}
      where org_id = ${ORG_A} and ${matches(sql, key, here)}`;
    assert.equal(changed.count, 1);
    throw undo;
  });
  await change.catch((error: unknown) => {
    if (error !== undo) throw error;
  });
}

/** Columns the database fills by itself are not in `row`: the first row has their lowest value. */
function matches(sql: TransactionSql, key: readonly string[], row: Row) {
  const conditions = key.map((column) =>
    row[column] === undefined ? sql`true` : sql`${sql(column)} = ${row[column] as string}`,
  );
  return conditions.reduce((found, condition) => sql`${found} and ${condition}`);
}
