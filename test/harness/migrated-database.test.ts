import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPool } from '@methods/postgres/pool';
import { migratedDatabase } from './migrated-database.ts';

test('gives each of many concurrent callers a migrated database of its own that ends with its drop', async () => {
  const databases = await Promise.all([1, 2, 3, 4].map(() => migratedDatabase('notifier')));
  const pools = databases.map(({ url }) =>
    openPool({ url, applicationName: 'test', max: 1, statementTimeoutMs: 60_000 }),
  );
  const [first, ...others] = pools;
  assert.ok(first !== undefined);
  try {
    await first`create table notifier.only_here (n integer)`;
    for (const sql of others) {
      const [row] = await sql<{ version: number; table: string | null }[]>`
        select max(version)::int as version, to_regclass('notifier.only_here')::text as table
          from notifier.schema_version`;
      assert.ok((row?.version ?? 0) > 0);
      assert.equal(row?.table, null);
    }
    await databases[0]?.drop();
    await assert.rejects(first`select 1 as one`);
  } finally {
    await Promise.all(pools.map((sql) => sql.end({ timeout: 1 })));
    await Promise.all(databases.map((database) => database.drop()));
  }
});
