import { deepEqual, equal, rejects } from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { silentLogger } from '@methods/logging/logger';
import { doorTo } from '@methods/test/harness/database-door';
import { testPostgres } from '@methods/test/harness/postgres';
import { until } from '@methods/test/harness/until';
import { DatabaseUnreachable, ServiceDatabase } from './service-database.ts';

const MIGRATIONS = new URL('../../../services/method-registry/migrations/', import.meta.url);

function database(url: string, patienceMs?: number): ServiceDatabase {
  const base = { url, applicationName: 'test', schema: 'registry', migrations: MIGRATIONS, logger: silentLogger };
  return new ServiceDatabase(patienceMs === undefined ? base : { ...base, patienceMs });
}

test('a server that never starts is given up with one sentence that contains no password', async () => {
  const missing = database('postgres://nobody:hunter2@127.0.0.1:1/none', 250);
  await rejects(missing.start(), (error: unknown) => {
    equal(error instanceof DatabaseUnreachable, true);
    equal(String(error).includes('hunter2'), false);
    return true;
  });
  await missing.stop();
});

test('stopping ends the wait for a server', async () => {
  const missing = database('postgres://nobody@127.0.0.1:1/none');
  const start = missing.start();
  await Promise.all([rejects(start), missing.stop()]);
});

test('replicas that start together migrate the schema once', async (t) => {
  const fresh = await (await testPostgres()).freshDatabase();
  const replicas = Array.from({ length: 4 }, () => database(fresh.url));
  t.after(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    await fresh.drop();
  });
  await Promise.all(replicas.map((replica) => replica.start()));
  const { sql } = replicas[0] as ServiceDatabase;
  const rows = await sql<{ version: number }[]>`
    select version::int from registry.schema_version where version > 0 order by version`;
  deepEqual(
    rows.map(({ version }) => version),
    readdirSync(MIGRATIONS)
      .map((file) => Number.parseInt(file, 10))
      .sort((x, y) => x - y),
  );
});

/** A database behind a door; `waits` counts how often it was found away. */
async function behindDoor(t: TestContext) {
  const fresh = await (await testPostgres()).freshDatabase();
  const door = await doorTo(fresh.url);
  const waits: unknown[] = [];
  const logger = { ...silentLogger, warn: (fields: unknown) => void waits.push(fields) };
  const service = new ServiceDatabase({
    ...{ url: door.url, applicationName: 'test', schema: 'registry', migrations: MIGRATIONS },
    logger: logger as typeof silentLogger,
  });
  t.after(async () => {
    await service.stop();
    await door.shut();
    await fresh.drop();
  });
  return { door, service, waits };
}

test('the work of a start is repeated while the server is unavailable', async (t) => {
  const { door, service, waits } = await behindDoor(t);
  await service.start();
  await door.shut();
  const answer = service.untilDone(() => service.sql<{ n: number }[]>`select 1 as n`);
  await until('it was away', () => waits.length > 0);
  await door.open();
  deepEqual(
    (await answer).map(({ n }) => n),
    [1],
  );
});

test('a server that becomes unavailable before the migrations is awaited', async (t) => {
  const { door, service, waits } = await behindDoor(t);
  await door.shut();
  const started = service.start();
  await until('it was away', () => waits.length > 0);
  await door.open();
  await started;
});

test('a permanent fault is thrown at once', async (t) => {
  const { service, waits } = await behindDoor(t);
  await rejects(service.untilDone(() => service.sql`select no_such_column`));
  await rejects(
    service.untilDone(async () => Promise.reject(new TypeError('ours'))),
    TypeError,
  );
  equal(waits.length, 0);
});
