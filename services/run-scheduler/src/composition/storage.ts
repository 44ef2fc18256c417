// Storage, time, retention, and the two services a node calls.

import { Bus } from '@methods/bus/connection';
import { OrganizationReader } from '@methods/postgres/organization-reader';
import { readerRole } from '@methods/postgres/reader-role';
import { ServiceDatabase } from '@methods/postgres/service-database';
import { FolderSweep } from '../retention/folder-sweep.ts';
import { OldRuns } from '../retention/old-runs.ts';
import { RetentionSweep } from '../retention/retention-sweep.ts';
import { FILE_SHARE } from '../rpc/input-files.ts';
import { RegistryClient } from '../rpc/registry-client.ts';
import { DatabaseClock } from '../store/database-clock.ts';
import { FileStore } from '../store/file-store.ts';
import { PostgresOutbox } from '../store/outbox.ts';
import { pageSettings } from '../store/planner-settings.ts';
import { PostgresRunStore } from '../store/postgres-run-store.ts';
import { RetiredIndex } from '../store/retired-index.ts';
import { RunFolderStore } from '../store/run-folder-store.ts';
import { RunLists } from '../store/run-lists.ts';
import { ClockLook } from '../timer/clock-look.ts';
import type { NodeParts } from './node-parts.ts';

const MIGRATIONS = new URL('../../migrations/', import.meta.url);
const COMMIT_DEADLINE_MS = 5_000;
const READ_DEADLINE_MS = 5_000;

export function provideStorage(parts: NodeParts): void {
  const {
    provide,
    config,
    nodeId,
    clock,
    log,
    pools,
    database,
    organizationReader,
    owns,
    owned,
    epochOf,
    databaseClock,
    store,
    registry,
    folders,
    files,
  } = parts;
  provide(
    ServiceDatabase,
    () =>
      new ServiceDatabase({
        url: config.postgresUrl.reveal(),
        applicationName: nodeId,
        schema: 'scheduler',
        migrations: MIGRATIONS,
        settings: pageSettings,
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
  provide(PostgresOutbox, () => new PostgresOutbox({ sql: pools.outbox, deadlineMs: READ_DEADLINE_MS }));
  provide(OrganizationReader, () => new OrganizationReader({ sql: database().sql, role: readerRole('scheduler') }));
  provide(RunLists, () => new RunLists({ reader: organizationReader(), deadlineMs: READ_DEADLINE_MS }));
  provide(RunFolderStore, () => new RunFolderStore(pools.folders));
  provide(FileStore, () => new FileStore(pools.files, FILE_SHARE));
  provide(
    FolderSweep,
    () => new FolderSweep({ folders: folders(), files: files(), logger: log.child({ part: 'folders' }) }),
  );
  provide(
    RetentionSweep,
    () =>
      new RetentionSweep({
        runs: new OldRuns({ sql: pools.retention, deadlineMs: COMMIT_DEADLINE_MS }),
        retention: registry().retention,
        ownedShards: owned,
        epochOf,
        databaseClock: databaseClock(),
        clock,
        random: Math.random,
        sweepMs: config.retentionSweepMs,
        logger: log.child({ part: 'retention' }),
      }),
  );
  provide(
    RetiredIndex,
    () => new RetiredIndex({ sql: pools.retention, isMine: () => owns(0), logger: log.child({ part: 'storage' }) }),
  );
  provide(DatabaseClock, () => new DatabaseClock(clock));
  provide(
    ClockLook,
    () =>
      new ClockLook({
        databaseClock: databaseClock(),
        ask: () => store().clockMs(),
        logger: log.child({ part: 'clock' }),
      }),
  );
  provide(RegistryClient, () => new RegistryClient(config.methodRegistryUrl, clock));
  provide(Bus, () => new Bus({ url: config.natsUrl.reveal(), name: nodeId, logger: log.child({ part: 'bus' }) }));
}
