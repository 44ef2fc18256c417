// A whole node: it deletes an earlier node's old runs by itself.
import type { RunId } from '@methods/base/ids';
import 'reflect-metadata/lite';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '@methods/logging/logger';
import { testNats } from '@methods/test/harness/nats';
import { testPostgres } from '@methods/test/harness/postgres';
import { until } from '@methods/test/harness/until';
import { composeRunScheduler } from '../composition.ts';
import { readConfig } from '../config.ts';
import { TestStore } from '../store/run-store.fixture.ts';
import { agedRun, ENDED, SettingsStandIn } from './aged-runs.fixture.ts';

test('a node deletes the old runs of its shards, and keeps the others', async () => {
  const [nats, db, settings] = [await testNats(), await TestStore.open(), new SettingsStandIn()];
  await settings.start();
  settings.days.set('org_a', 30);
  const kept = await agedRun(db, 29, ENDED, { shard: 2 });
  for (const shard of [0, 1, 2, 3]) await agedRun(db, 31, ENDED, { shard });
  const node = composeRunScheduler(
    readConfig({
      LISTEN: '127.0.0.1:0',
      WORKER_LISTEN: '127.0.0.1:0',
      POSTGRES_URL: await urlOf(db),
      NATS_URL: nats.url,
      METHOD_REGISTRY_URL: settings.address,
      SHARD_COUNT: '4',
      RETENTION_SWEEP_MS: '20',
    }),
    silentLogger,
  );
  try {
    await node.start();
    const left = () => db.sql<{ run_id: RunId }[]>`select run_id from scheduler.runs`;
    await until('the old ones are gone', async () => (await left()).length === 1);
    assert.equal((await left())[0]?.run_id, kept.facts.runId);
  } finally {
    await node.stop();
    await settings.stop();
    await db.close();
    await nats.stop();
  }
});

async function urlOf(db: TestStore): Promise<string> {
  const url = new URL((await testPostgres()).url);
  const [row] = await db.sql<{ name: string }[]>`select current_database() as name`;
  url.pathname = `/${row?.name}`;
  return url.href;
}
