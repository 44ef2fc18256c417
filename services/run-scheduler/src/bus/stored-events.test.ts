import { test } from 'node:test';
import { create, toBinary } from '@bufbuild/protobuf';
import { silentLogger } from '@methods/logging/logger';
import { StoredEventsSchema } from '@methods/proto/event/v1/event_pb';
import { until } from '@methods/test/harness/until';
import { ManualClock } from '../manual-clock.fixture.ts';
import { DatabaseClock } from '../store/database-clock.ts';
import type { Outbox } from '../store/outbox.ts';
import { newFacts } from '../store/run-store.fixture.ts';
import { EventRelay } from './event-relay.ts';

test('100,000 confirmations wait for a stalled database, and later ones come again with their events', async () => {
  let removed = 0;
  let goOn = () => {};
  const stalled = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const remove = async (outboxIds: readonly string[]) => {
    await stalled;
    removed += outboxIds.length;
  };
  const relay = new EventRelay({
    outbox: { remove } as unknown as Outbox,
    publisher: { publish: async () => {} },
    databaseClock: new DatabaseClock(new ManualClock()),
    shardCount: 4,
    ownedShards: () => [0],
    owns: () => true,
    heard: { confirmed: () => {} },
    logger: silentLogger,
  });
  const { runId } = newFacts(0);
  const confirm = (count: number) => {
    const outboxIds = Array.from({ length: count }, (_, seq) => `${runId}.${seq}`);
    relay.confirmed(toBinary(StoredEventsSchema, create(StoredEventsSchema, { outboxIds })));
  };
  confirm(1_000);
  confirm(100_500);
  goOn();
  await until('those that were kept are removed', () => removed === 100_000);
  confirm(1);
  await until('later ones are taken again', () => removed === 100_001);
});
