import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { testPostgres } from '@methods/test/harness/postgres';
import { MigrationError, migrate } from './migrate.ts';
import { OrganizationReader } from './organization-reader.ts';
import { openPool, type Sql } from './pool.ts';
import { readerRole } from './reader-role.ts';
import { sqlState } from './safe-db-error.ts';

describe('migrate', () => {
  let url: string;
  let drop: () => Promise<void>;
  let sql: Sql;
  let files: string;
  let folder: URL;
  const write = (name: string, statements: string) => writeFileSync(join(files, name), statements);

  before(async () => {
    ({ url, drop } = await (await testPostgres()).freshDatabase());
    sql = openPool({ url, applicationName: 'migrate-test', max: 1, statementTimeoutMs: 5000 });
    files = mkdtempSync(join(tmpdir(), 'methods-migrations-'));
    folder = pathToFileURL(`${files}/`);
    write('0001.do.things.sql', 'create table shop.things (id int); create index on shop.things (id);');
    write('0002.do.more-things.sql', "create function shop.f() returns text language sql as $$ select 'a;b' $$;");
  });
  after(async () => {
    await sql.end({ timeout: 1 });
    await drop();
    rmSync(files, { recursive: true });
  });

  test('applies the files once, also when several replicas start together', async () => {
    const applied = await Promise.all(Array.from({ length: 4 }, () => migrate(url, { schema: 'shop', folder })));
    assert.deepEqual(
      applied.filter((names) => names.length > 0),
      [['0001.things', '0002.more-things']],
    );
    assert.equal((await sql`select shop.f() as f`)[0]?.f, 'a;b');
    const versions = await sql`select version, name from shop.schema_version order by version`;
    assert.deepEqual(
      versions.map((row) => row.version),
      [0, 1, 2],
    );
  });

  test('leaves everything as it was when a file fails', async () => {
    write('0003.do.good.sql', 'create table shop.good (id int);');
    write('0004.do.bad.sql', 'create table shop.half (id int); select no_such_function();');
    await assert.rejects(
      migrate(url, { schema: 'shop', folder }),
      (error) => error instanceof MigrationError && error.message.includes('42883'),
    );
    const [row] = await sql`select to_regclass('shop.good') as good, to_regclass('shop.half') as half`;
    assert.deepEqual({ ...row }, { good: null, half: null });
    write('0004.do.bad.sql', 'create table shop.half (id int);');
    assert.deepEqual(await migrate(url, { schema: 'shop', folder }), ['0003.good', '0004.bad']);
  });

  test('walls off each table of organizations once, also one that a later file makes', async () => {
    const policies = async () =>
      (
        await sql`
          select tablename as table, policyname as policy, pg_policy.oid::int from pg_policies
            join pg_policy on polname = policyname and polrelid = (schemaname || '.' || tablename)::regclass
          where schemaname = 'shop' order by 1, 2`
      ).map((row) => ({ ...row }));
    assert.deepEqual(await policies(), []);
    write('0005.do.orders.sql', 'create table shop.orders (org_id text, n int, primary key (org_id, n));');
    await migrate(url, { schema: 'shop', folder });
    const first = await policies();
    assert.deepEqual(
      first.map(({ table, policy }) => [table, policy]),
      [
        ['orders', 'one_organization'],
        ['orders', 'service'],
      ],
    );
    await sql`insert into shop.orders values ('a', 1), ('b', 1), ('b', 2)`;
    write(
      '0006.do.bills.sql',
      "create table shop.bills (org_id text primary key); insert into shop.bills values ('a');",
    );
    await migrate(url, { schema: 'shop', folder });
    assert.deepEqual((await policies()).slice(2), first);
    const reader = new OrganizationReader({ sql, role: readerRole('shop') });
    assert.deepEqual(
      [...(await reader.read('a', (inner) => inner`select * from shop.orders`))],
      [{ org_id: 'a', n: 1 }],
    );
    assert.deepEqual([...(await reader.read('b', (inner) => inner`select * from shop.bills`))], []);
    await assert.rejects(
      reader.read('a', (inner) => inner`select * from shop.things`),
      (error) => sqlState(error) === '42501',
    );
  });

  test('refuses a file that was changed after it was applied', async () => {
    write('0001.do.things.sql', 'create table shop.things (id bigint);');
    await assert.rejects(migrate(url, { schema: 'shop', folder }), MigrationError);
  });

  test('keeps schemas of one database apart', async () => {
    write('0001.do.things.sql', 'select 1;');
    for (const name of readdirSync(files).filter((file) => !file.startsWith('0001'))) rmSync(join(files, name));
    assert.deepEqual(await migrate(url, { schema: 'other', folder }), ['0001.things']);
    await assert.rejects(migrate(url, { schema: 'no"such', folder }), TypeError);
  });
});
