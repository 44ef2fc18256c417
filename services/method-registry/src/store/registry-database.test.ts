import { deepEqual, equal, rejects } from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '@methods/logging/logger';
import { testPostgres } from '@methods/test/harness/postgres';
import { DatabaseUnreachable, RegistryDatabase } from './registry-database.ts';

test('a server that never comes is given up with one sentence that holds no password', async () => {
  const database = new RegistryDatabase('postgres://nobody:hunter2@127.0.0.1:1/none', silentLogger, 250);
  await rejects(database.start(), (error: unknown) => {
    equal(error instanceof DatabaseUnreachable, true);
    equal(String(error).includes('hunter2'), false);
    return true;
  });
  await database.stop();
});

test('stopping ends the wait for a server', async () => {
  const database = new RegistryDatabase('postgres://nobody@127.0.0.1:1/none', silentLogger);
  const start = database.start();
  await Promise.all([rejects(start), database.stop()]);
});

test('replicas that start together bring the schema up once', async () => {
  const fresh = await (await testPostgres()).freshDatabase();
  const replicas = Array.from({ length: 4 }, () => new RegistryDatabase(fresh.url, silentLogger));
  await Promise.all(replicas.map((replica) => replica.start()));
  const { sql } = replicas[0] as RegistryDatabase;
  const rows = await sql<{ version: number }[]>`
    select version::int from registry.schema_version where version > 0 order by version`;
  deepEqual(
    rows.map(({ version }) => version),
    [1],
  );
  await Promise.all(replicas.map((replica) => replica.stop()));
  await fresh.drop();
});
