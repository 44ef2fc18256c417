import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { OrgId } from '@methods/base/ids';
import { testPostgres } from '@methods/test/harness/postgres';
import { sqlState } from './database-fault.ts';
import { wallOffOrganizations } from './migrate.ts';
import { ensureReaderRole, OrganizationReader, readerRole } from './organization-reader.ts';
import { openPool, type Sql } from './pool.ts';

const SCHEMA = 'walled';
const ROLE = readerRole(SCHEMA);

describe('an organization reader', () => {
  let url: string;
  let drop: () => Promise<void>;
  /** One connection: the next query meets everything that a reading leaves behind. */
  let sql: Sql;
  let reader: OrganizationReader;
  const who = (from: Sql | Parameters<Parameters<OrganizationReader['read']>[1]>[0]) =>
    from<{ role: string; org: string | null }[]>`
      select current_user::text as role, current_setting('methods.org_id', true) as org`;
  const outside = async () => (await who(sql))[0];

  before(async () => {
    ({ url, drop } = await (await testPostgres()).freshDatabase());
    const settings = { search_path: SCHEMA };
    sql = openPool({ url, applicationName: 'reader-test', max: 1, statementTimeoutMs: 60_000, settings });
    reader = new OrganizationReader({ sql, role: ROLE });
    await sql.begin((transaction) => ensureReaderRole(transaction, ROLE));
    await sql.unsafe(`
      create schema ${SCHEMA};
      create table things (org_id text not null, thing text not null, primary key (org_id, thing));
      create table ungranted (n int);
      insert into things values ('org_a', 'of a'), ('org_b', 'of b'), ('', 'of nobody');
    `);
    await sql.begin((transaction) => wallOffOrganizations(transaction, SCHEMA));
  });
  after(async () => {
    await sql.end({ timeout: 1 });
    await drop();
  });

  test('is in force before the first query of a reading', async () => {
    const [first] = await reader.read('org_a', (inner) => who(inner));
    assert.deepEqual({ ...first }, { role: ROLE, org: 'org_a' });
  });

  test('finds the rows of one organization when the query names none', async () => {
    const rows = await reader.read('org_a', (inner) => inner`select thing from things`);
    assert.deepEqual(
      rows.map((row) => row.thing),
      ['of a'],
    );
  });

  test('does not find a foreign row that the query names', async () => {
    assert.equal((await reader.read('org_a', (inner) => inner`select from things where org_id = 'org_b'`)).length, 0);
  });

  test('leaves nothing to the next query on the connection', async () => {
    const before = await outside();
    await reader.read('org_b', (inner) => who(inner));
    const after = await outside();
    assert.equal(after?.role, before?.role);
    assert.notEqual(after?.role, ROLE);
    assert.equal(after?.org || null, null);
  });

  test('finds nothing without an organization, be it empty or left over', async () => {
    assert.equal((await reader.read('' as OrgId, (inner) => inner`select from things`)).length, 0);
    const asRole = () =>
      sql.begin(async (inner) => {
        await inner.unsafe(`set local role ${ROLE}`);
        return await inner`select from things`;
      });
    assert.equal((await asRole()).length, 0);
    await reader.read('org_a', (inner) => who(inner));
    assert.equal((await asRole()).length, 0);
  });

  test('keeps readings side by side apart', async () => {
    const orgs = Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? 'org_a' : 'org_b'));
    const found = await Promise.all(orgs.map((org) => reader.read(org, (inner) => inner`select org_id from things`)));
    assert.deepEqual(
      found.map((rows) => rows.map((row) => row.org_id)),
      orgs.map((org) => [org]),
    );
  });

  test('writes nothing and reads no table it was not given', async () => {
    const insert = reader.read('org_a', (inner) => inner`insert into things values ('org_a', 'new')`);
    await assert.rejects(insert, (error) => sqlState(error) === '25006');
    const ungranted = reader.read('org_a', (inner) => inner`select from ungranted`);
    await assert.rejects(ungranted, (error) => sqlState(error) === '42501');
  });

  test('returns the connection after a failure of any kind', async () => {
    const fails: Parameters<typeof reader.read>[1][] = [
      (inner) => inner`select 1 / 0`,
      async (inner) => {
        await inner`select 1`;
        throw new Error('ours');
      },
      () => {
        throw new Error('before any query');
      },
    ];
    for (const failing of fails) await assert.rejects(reader.read('org_a', failing));
    assert.notEqual((await outside())?.role, ROLE);
    assert.equal((await reader.read('org_a', (inner) => inner`select from things`)).length, 1);
  });

  test('fails with its connection, and reads again on the next one', async () => {
    const other = openPool({ url, applicationName: 'reader-test-other', max: 1, statementTimeoutMs: 60_000 });
    const reading = reader.read('org_a', async (inner) => {
      const [mine] = await inner`select pg_backend_pid() as pid`;
      await other`select pg_terminate_backend(${mine?.pid})`;
      return await inner`select from things`;
    });
    await assert.rejects(reading);
    await other.end({ timeout: 1 });
    assert.equal((await reader.read('org_a', (inner) => inner`select from things`)).length, 1);
  });

  test('runs no query of a read whose role cannot be assumed', async () => {
    const lost = new OrganizationReader({ sql, role: 'no_such_role_here' });
    let read: unknown = null;
    const reading = lost.read('org_a', async (inner) => {
      read = await inner`select * from things`;
    });
    // The role's own failure, not that of the query behind it.
    await assert.rejects(reading, (error) => sqlState(error) === '22023');
    assert.equal(read, null);
    assert.throws(() => new OrganizationReader({ sql, role: 'r"; drop' }), TypeError);
  });
});
