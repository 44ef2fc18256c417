// Storage, time, and the two services a node asks.

import { Bus } from '@methods/bus/connection';
import { ServiceDatabase } from '@methods/postgres/service-database';
import { DatabaseClock } from '../database-clock.ts';
import { RegistryClient } from '../rpc/registry-client.ts';
import { PostgresRunStore } from '../store/postgres-run-store.ts';
import { RunFolderStore } from '../store/run-folder-store.ts';
import type { NodeParts } from './node-parts.ts';

const MIGRATIONS = new URL('../../migrations/', import.meta.url);
const COMMIT_DEADLINE_MS = 5_000;
const READ_DEADLINE_MS = 5_000;

export function provideStorage(parts: NodeParts): void {
  const { provide, config, nodeId, clock, log, pools, database } = parts;
  provide(
    ServiceDatabase,
    () =>
      new ServiceDatabase({
        url: config.postgresUrl.reveal(),
        applicationName: nodeId,
        schema: 'scheduler',
        migrations: MIGRATIONS,
        logger: log.child({ part: 'database' }),
      }),
  );
  provide(
    PostgresRunStore,
    () =>
      new PostgresRunStore({
        writer: pools.writer,
        reader: database().sql,
        commitDeadlineMs: COMMIT_DEADLINE_MS,
        readDeadlineMs: READ_DEADLINE_MS,
      }),
  );
  provide(RunFolderStore, () => new RunFolderStore(pools.folders));
  provide(DatabaseClock, () => new DatabaseClock(clock));
  provide(RegistryClient, () => new RegistryClient(config.methodRegistryUrl, () => clock.monotonicMs()));
  provide(Bus, () => new Bus({ url: config.natsUrl.reveal(), name: nodeId, logger: log.child({ part: 'bus' }) }));
}
