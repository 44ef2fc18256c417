import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import { testPostgres } from '@methods/test/harness/postgres';
import { ensureReaderRole } from './organization-reader.ts';
import { openPool, type Sql } from './pool.ts';

describe('the reader role', () => {
  const pools: Sql[] = [];
  /** Roles outlive the database they were made in. */
  const roles: string[] = [];
  let url: string;
  let drop: () => Promise<void>;
  let admin: Sql;
  let role: string;

  const open = (of: string | URL): Sql => {
    const sql = openPool({ url: String(of), applicationName: 'role-test', max: 1, statementTimeoutMs: 60_000 });
    pools.push(sql);
    return sql;
  };
  /** A user as a service has it: no superuser. */
  const serviceUser = async (rights: string): Promise<{ name: string; sql: Sql }> => {
    const name = `test_user_${randomBytes(4).toString('hex')}`;
    await admin.unsafe(`create role ${name} login password 'x' ${rights}`);
    roles.push(name);
    const own = new URL(url);
    [own.username, own.password] = [name, 'x'];
    return { name, sql: open(own) };
  };
  const ensure = (sql: Sql) => sql.begin((transaction) => ensureReaderRole(transaction, role));
  const roleOf = async (sql: Sql) =>
    await sql.begin(async (inner) => {
      await inner.unsafe(`set local role ${role}`);
      return (await inner`select current_user::text as role`)[0]?.role;
    });

  before(async () => {
    ({ url, drop } = await (await testPostgres()).freshDatabase());
    admin = open(url);
  });
  beforeEach(() => {
    role = `test_${randomBytes(4).toString('hex')}_reader`;
    roles.push(role);
  });
  after(async () => {
    for (const name of roles) await admin.unsafe(`drop role if exists ${name}`);
    for (const sql of pools) await sql.end({ timeout: 1 });
    await drop();
  });

  test('owns nothing, cannot log in and bypasses nothing', async () => {
    await ensure(admin);
    const [attributes] = await admin`
      select rolsuper or rolcreaterole or rolcreatedb or rolcanlogin or rolreplication or rolbypassrls as may,
        (select count(*) from pg_auth_members where member = r.oid) as member_of
      from pg_roles r where rolname = ${role}`;
    assert.deepEqual({ ...attributes }, { may: false, member_of: 0 });
  });

  test('is made once when several databases of a server ask for it together', async () => {
    const asking = Array.from({ length: 6 }, () => open(url));
    await Promise.all(asking.map(ensure));
    await ensure(admin);
    assert.equal(await roleOf(admin), role);
  });

  test('is created by a user who may create roles and is not a superuser', async () => {
    const { sql } = await serviceUser('createrole');
    await ensure(sql);
    await ensure(sql);
    assert.equal(await roleOf(sql), role);
  });

  test('names, for a user without that right, what an administrator has to run, which then is enough', async () => {
    const { name, sql } = await serviceUser('');
    const remedy = new RegExp(`run as an administrator: .*create role ${role} nologin.*grant ${role} to ${name};$`);
    await assert.rejects(ensure(sql), { message: remedy });
    await admin.unsafe(`create role ${role} nologin`);
    await assert.rejects(ensure(sql), { message: remedy });
    await admin.unsafe(`grant ${role} to ${name}`);
    await ensure(sql);
    assert.equal(await roleOf(sql), role);
  });

  test('is refused when row-level security would not hold for it', async () => {
    await admin.unsafe(`create role ${role} nologin bypassrls`);
    await assert.rejects(ensure(admin), { message: /does not hold for the role/ });
  });
});
