import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { testPostgres } from '@methods/test/harness/postgres';
import { safeDbError, sqlState } from './database-fault.ts';
import { DatabaseDeadlineError, withDeadline } from './deadline.ts';
import { openPool, type Sql } from './pool.ts';
import { refuseUnsafeServer, UnsafeServerError } from './service-database.ts';

describe('a pool', () => {
  let url: string;
  let drop: () => Promise<void>;
  let sql: Sql;

  before(async () => {
    ({ url, drop } = await (await testPostgres()).freshDatabase());
    sql = openPool({ url, applicationName: 'pool-test', max: 2, statementTimeoutMs: 1000 });
  });
  after(async () => {
    await sql.end({ timeout: 1 });
    await drop();
  });

  test('sets the limits of every session', async () => {
    const [row] = await sql`
      select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
        current_setting('idle_in_transaction_session_timeout') as idle, current_setting('jit') as jit,
        current_setting('application_name') as name`;
    assert.deepEqual({ ...row }, { statement: '1s', lock: '500ms', idle: '1s', jit: 'off', name: 'pool-test' });
  });

  test('gives bigint columns as numbers, beyond safe integers as BigInt', async () => {
    const [row] = await sql`select 7::bigint as small, 9007199254740993::bigint as large, array[1,2]::bigint[] as list`;
    assert.deepEqual({ ...row }, { small: 7, large: 9007199254740993n, list: [1, 2] });
    const [back] = await sql`select ${9007199254740993n}::bigint + 1 as value, ${5}::bigint as five`;
    assert.deepEqual({ ...back }, { value: 9007199254740994n, five: 5 });
  });

  test('takes and gives arrays of the built-in types', async () => {
    const at = new Date('2026-01-02T03:04:05.678Z');
    const [row] = await sql`
      select ${['a,"b"', '\\']}::text[] as texts, ${[1, 2]}::int[] as numbers, ${sql.array([true, false])}::bool[] as flags,
        ${sql.array([at])}::timestamptz[] as times, ${[[1], [2]]}::int8[] as nested, ${sql.array([Buffer.from('x')])}::bytea[] as bytes,
        ${[]}::uuid[] as none, ${sql.array([{ a: 1 }], 3802)}::jsonb[] as objects,
        (select count(*)::int from generate_series(1, 5) as n where n = any(${[2, 3, 9]})) as found`;
    assert.deepEqual(
      { ...row },
      {
        texts: ['a,"b"', '\\'],
        numbers: [1, 2],
        flags: [true, false],
        times: [at],
        nested: [[1], [2]],
        bytes: [Buffer.from('x')],
        none: [],
        objects: [{ a: 1 }],
        found: 2,
      },
    );
    assert.equal(
      (await sql`select * from ${sql('pg_class')} where relname in ${sql(['pg_class', 'pg_type'])}`).length,
      2,
    );
  });

  test('has the server end a statement that takes too long', async () => {
    await assert.rejects(sql`select pg_sleep(5)`, (error) => sqlState(error) === '57014');
  });

  test('gives up a query at its own deadline and keeps working with its only connection', async () => {
    const one = openPool({ url, applicationName: 'deadline-test', max: 1, statementTimeoutMs: 30_000 });
    const started = performance.now();
    await assert.rejects(withDeadline(one`select pg_sleep(60)`, 100), DatabaseDeadlineError);
    const [row] = await one`select 1 as one`;
    assert.equal(row?.one, 1);
    assert.ok(performance.now() - started < 20_000);
    const [left] = await sql`
      select count(*)::int as running from pg_stat_activity where application_name = 'deadline-test' and query like '%pg_sleep%' and state = 'active'`;
    assert.equal(left?.running, 0, 'the server ended the statement too');
    await one.end({ timeout: 1 });
  });

  test('withdraws a query that still waits for a connection at its deadline', async () => {
    const one = openPool({ url, applicationName: 'queue-test', max: 1, statementTimeoutMs: 30_000 });
    const holding = one.begin((transaction) => transaction`select pg_sleep(0.5)`);
    await assert.rejects(withDeadline(one`select 1`, 50), DatabaseDeadlineError);
    await holding;
    assert.equal((await one`select 2 as two`)[0]?.two, 2);
    await one.end({ timeout: 1 });
  });

  test('passes an answer and an error through before the deadline', async () => {
    assert.equal((await withDeadline(sql`select 3 as three`, 5000))[0]?.three, 3);
    await assert.rejects(withDeadline(sql`select 1/0`, 5000), (error) => sqlState(error) === '22012');
  });

  test('takes a durable server and refuses one that may lose commits', async () => {
    await refuseUnsafeServer(sql);
    const unsafe = openPool({
      url: `${url}?synchronous_commit=off`,
      applicationName: 'x',
      max: 1,
      statementTimeoutMs: 0,
    });
    await unsafe`set synchronous_commit = off`;
    await assert.rejects(
      refuseUnsafeServer(unsafe),
      (error: Error) => error instanceof UnsafeServerError && error.message.includes('synchronous_commit'),
    );
    await unsafe.end({ timeout: 1 });
  });

  test('gives of an error only what a log may hold', async () => {
    await sql`create table people (id int primary key, name text unique)`;
    await sql`insert into people values (1, 'a secret name')`;
    const error = await sql`insert into people values (2, ${'a secret name'})`.catch((thrown: unknown) => thrown);
    const safe = safeDbError(error);
    assert.deepEqual(safe, { code: '23505', severity: 'ERROR', constraint: 'people_name_key', table: 'people' });
    assert.deepEqual(safeDbError(new Error('a secret name')), { code: 'unknown' });
  });
});
