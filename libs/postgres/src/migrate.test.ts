import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { testPostgres } from '@methods/test/harness/postgres';
import { until } from '@methods/test/harness/until';
import { sqlState } from './database-fault.ts';
import { MigrationError, migrate } from './migrate.ts';
import { OrganizationReader, readerRole } from './organization-reader.ts';
import { openPool, type Sql } from './pool.ts';

describe('migrate', () => {
  let url: string;
  let drop: () => Promise<void>;
  let sql: Sql;
  let files: string;
  let folder: URL;
  const write = (name: string, statements: string) => writeFileSync(join(files, name), statements);

  before(async () => {
    ({ url, drop } = await (await testPostgres()).freshDatabase());
    sql = openPool({ url, applicationName: 'migrate-test', max: 1, statementTimeoutMs: 60_000 });
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

  test('applies the files once, even if several replicas start together', async () => {
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

  test('leaves the schema as it was before the file that fails', async () => {
    write('0003.do.good.sql', 'create table shop.good (id int);');
    write('0004.do.bad.sql', 'create table shop.half (id int); select no_such_function();');
    await assert.rejects(
      migrate(url, { schema: 'shop', folder }),
      (error) => error instanceof MigrationError && error.message.includes('42883'),
    );
    const [row] = await sql`select to_regclass('shop.good') as good, to_regclass('shop.half') as half`;
    assert.deepEqual({ ...row }, { good: 'shop.good', half: null });
    write('0004.do.bad.sql', 'create table shop.half (id int);');
    assert.deepEqual(await migrate(url, { schema: 'shop', folder }), ['0004.bad']);
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
    await sql`insert into shop.orders values ('org_a', 1), ('org_b', 1), ('org_b', 2)`;
    write(
      '0006.do.bills.sql',
      "create table shop.bills (org_id text primary key); insert into shop.bills values ('org_a');",
    );
    await migrate(url, { schema: 'shop', folder });
    assert.deepEqual((await policies()).slice(2), first);
    const reader = new OrganizationReader({ sql, role: readerRole('shop') });
    assert.deepEqual(
      [...(await reader.read('org_a', (inner) => inner`select * from shop.orders`))],
      [{ org_id: 'org_a', n: 1 }],
    );
    assert.deepEqual([...(await reader.read('org_b', (inner) => inner`select * from shop.bills`))], []);
    await assert.rejects(
      reader.read('org_a', (inner) => inner`select * from shop.things`),
      (error) => sqlState(error) === '42501',
    );
  });

  describe('in steps', () => {
    const VALID = "select indisvalid as valid from pg_index where indexrelid = 'shop.things_by_id'::regclass";
    const makeIndex = `-- In steps.
-- A reason; and another one.
drop index concurrently if exists shop.things_by_id;
create unique index concurrently things_by_id
  on shop.things (id);
`;

    test('makes an index while rows are written, once for replicas that start together', async () => {
      write('0007.do.index.sql', makeIndex);
      write('0008.do.after.sql', 'create table shop.after_index (id int);');
      const writer = openPool({ url, applicationName: 'writer', max: 2, statementTimeoutMs: 60_000 });
      const applied: Promise<string[]>[] = [];
      await writer.begin(async (transaction) => {
        await transaction`insert into shop.things values (1)`;
        for (let n = 0; n < 3; n++) applied.push(migrate(url, { schema: 'shop', folder }));
        await until('the index waits for this transaction', async () => {
          const rows = await sql`select from pg_stat_activity
            where query like '%create unique index%' and wait_event_type = 'Lock' and datname = current_database()`;
          return rows.length > 0;
        });
        // Behind an index made in a transaction this would wait for its end.
        await writer`insert into shop.things values (2)`;
        await transaction`select 1`;
      });
      assert.deepEqual((await Promise.all(applied)).flat(), ['0007.index', '0008.after']);
      assert.deepEqual([...(await sql.unsafe(VALID))], [{ valid: true }]);
      await writer.end({ timeout: 1 });
    });

    test('continues where a process died in the middle, and leaves no half-built index', async () => {
      write('0009.do.other-index.sql', makeIndex.replace('(id)', '((id % 2))'));
      await sql`insert into shop.things values (3)`;
      // Two odd numbers: the index fails halfway and stays, invalid.
      await assert.rejects(migrate(url, { schema: 'shop', folder }), MigrationError);
      assert.deepEqual([...(await sql.unsafe(VALID))], [{ valid: false }]);
      assert.deepEqual(
        [...(await sql`select max(version)::int as version from shop.schema_version`)],
        [{ version: 8 }],
      );
      await sql`delete from shop.things where id = 3`;
      assert.deepEqual(await migrate(url, { schema: 'shop', folder }), ['0009.other-index']);
      assert.deepEqual([...(await sql.unsafe(VALID))], [{ valid: true }]);
      assert.deepEqual(await migrate(url, { schema: 'shop', folder }), []);
    });
  });

  test('holds no lock of one file while the next one reads', async () => {
    write('0020.do.column.sql', 'alter table shop.things add column more text;');
    write('0021.do.reads.sql', 'select pg_advisory_xact_lock(42);');
    const migrated = await sql.begin(async (transaction) => {
      await transaction`select pg_advisory_xact_lock(42)`;
      const applied = migrate(url, { schema: 'shop', folder });
      await until('the second file runs', async () => {
        const rows = await transaction`select from pg_locks where locktype = 'advisory' and not granted and objid = 42`;
        return rows.length > 0;
      });
      await transaction`set local lock_timeout = '2s'`;
      await transaction`insert into shop.things (more) values ('x')`;
      // Not awaited here: it waits for this transaction.
      return { applied };
    });
    assert.deepEqual(await migrated.applied, ['0020.column', '0021.reads']);
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
