import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openPool, type Sql } from '@methods/postgres/pool';
import { testPostgres } from '@methods/test/harness/postgres';
import fc from 'fast-check';
import { type ArrayElement, arrayLiteral } from './array-literal.ts';

describe('array literals', () => {
  let sql: Sql;
  let drop: () => Promise<void>;

  before(async () => {
    const database = await (await testPostgres()).freshDatabase();
    sql = openPool({ url: database.url, applicationName: 'test', max: 1, statementTimeoutMs: 60_000 });
    drop = database.drop;
  });
  after(async () => {
    await sql.end({ timeout: 1 });
    await drop();
  });

  async function throughPostgres(values: readonly ArrayElement[], type: string): Promise<unknown[]> {
    const rows = await sql.unsafe(`select v from unnest($1::${type}[]) with ordinality as t(v, n) order by n`, [
      arrayLiteral(values),
    ]);
    return rows.map((row) => row.v);
  }

  test('keeps texts with quotes, backslashes, commas, braces, line ends, the word NULL, and the empty text', async () => {
    const texts = [
      '',
      ' ',
      '"',
      '\\',
      '\\"',
      'a,b',
      '{x}',
      'NULL',
      'null',
      null,
      "it's",
      '\n\r\t',
      '\u0001',
      'ü €',
      '😀',
      '"\n"',
      '\\\u0001\u007f',
      '{"😀":"\\u00e4"}',
    ];
    assert.deepEqual(await throughPostgres(texts, 'text'), texts);
    const withoutNull = texts.filter((text) => text !== null);
    assert.deepEqual(await throughPostgres(withoutNull, 'text'), withoutNull);
  });

  test('keeps numbers, booleans and nulls', async () => {
    assert.deepEqual(await throughPostgres([1, -2, 9_007_199_254_740_991, null], 'bigint'), [
      1,
      -2,
      9_007_199_254_740_991,
      null,
    ]);
    assert.deepEqual(await throughPostgres([true, false, null], 'boolean'), [true, false, null]);
  });

  test('no elements make an empty array', async () => {
    assert.deepEqual(await throughPostgres([], 'text'), []);
  });

  test('keeps any list of texts', async () => {
    // Postgres cannot store NUL; lone surrogates have no UTF-8.
    const text = fc.string({ unit: 'binary' }).map((t) => Buffer.from(t.replaceAll('\0', '0')).toString());
    const awkward = fc.string({ unit: fc.constantFrom('"', '\\', ',', '{', '}', ' ', 'a', '\n', '😀') });
    const list = fc.array(fc.option(fc.oneof(text, awkward)), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(list, async (values) => assert.deepEqual(await throughPostgres(values, 'text'), values)),
    );
  });
});
