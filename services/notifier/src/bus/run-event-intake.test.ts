import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Clock, systemClock } from '@methods/base/clock';
import { newId, newRunId } from '@methods/base/ids';
import { silentLogger } from '@methods/logging/logger';
import { RunEventSchema } from '@methods/proto/event/v1/event_pb';
import { encoder } from '@methods/rpc/message-codec';
import { until } from '@methods/test/harness/until';
import { type NotifierDatabase, notifierDatabase } from '../../test/notifier-database.fixture.ts';
import { type Event, succeeded } from '../../test/notifier-stack.fixture.ts';
import { type PlannedEvent, storeEvents } from '../store/store-events.ts';
import { RunEventIntake } from './run-event-intake.ts';

let database: NotifierDatabase;
before(async () => {
  database = await notifierDatabase();
});
after(() => database[Symbol.asyncDispose]());

const encode = encoder(RunEventSchema);
const URL_OF_ALL = 'https://hook.example/in';

function intake(
  store = (planned: readonly PlannedEvent[]): Promise<void> => storeEvents(database.sql, planned),
  clock: Clock = systemClock,
) {
  const fates = { acked: 0, refused: 0 };
  const storedEvents = async () => new Set<string>();
  const endpoints = async () => [];
  const parts = {
    store,
    mails: false,
    endpoints,
    storedEvents,
    clock,
    publish: () => true,
    onStored: () => {},
    logger: silentLogger,
  };
  const taking = new RunEventIntake(parts);
  const message = (event: Event) => ({
    data: encode(event),
    ack: () => void fates.acked++,
    nak: () => void fates.refused++,
  });
  return { taking, fates, take: (events: readonly Event[]) => taking.take(events.map(message)) };
}

/** Before Postgres's first day: it decodes well, and no statement stores it. */
const impossible = () => succeeded(URL_OF_ALL, { createdAtMs: -8e15 });

test('an event that Postgres refuses is not stored, and takes no other one with it', async () => {
  const { take, fates } = intake();
  const orgId = newId('org');
  const good = Array.from({ length: 100 }, () => succeeded(URL_OF_ALL, { orgId }));
  take([...good.slice(0, 50), impossible(), ...good.slice(50), impossible()]);
  await until('all are confirmed', () => fates.acked === 102);
  assert.equal(fates.refused, 0);
  const [row] = await database.sql<{ count: number }[]>`
    select count(*)::int as count from notifier.deliveries where org_id = ${orgId}`;
  assert.equal(row?.count, 100);
});

test('an event of which no body can be made is confirmed, and the next one is stored', async () => {
  const { take, fates } = intake();
  const question = { id: 'q_1', step: 'a', prompt: 'Well?', deadlineAtMs: 1e300 } as never;
  take([succeeded(URL_OF_ALL, { event: 'needs_input', question })]);
  take([succeeded(URL_OF_ALL)]);
  await until('both are confirmed', () => fates.acked === 2);
});

test('large events are stored a few at a time, and no more are fetched while many bytes wait', async () => {
  const sizes: number[] = [];
  let release = () => {};
  const stored = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { taking, take, fates } = intake(async (planned) => {
    sizes.push(planned.flatMap(({ deliveries }) => deliveries).reduce((sum, { body }) => sum + body.length, 0));
    await stored;
  });
  const orgId = newId('org');
  const resultJson = JSON.stringify('x'.repeat(500_000));
  take(Array.from({ length: 40 }, () => succeeded(URL_OF_ALL, { orgId, runId: newRunId(1), resultJson })));
  let ready = false;
  const room = taking.ready().then(() => {
    ready = true;
  });
  assert.equal(ready, false);
  release();
  await room;
  assert.ok(fates.acked >= 20 && fates.acked < 40, `${fates.acked} were stored before there was room`);
  await until('all are stored', () => fates.acked === 40);
  assert.ok(Math.max(...sizes) < 3 << 20, sizes.join());
});

test('events that come one by one are stored together, those after a pause at once', async () => {
  const clock = { nowMs: 0, timers: new Set<() => void>() };
  const sizes: number[] = [];
  const { take, fates } = intake(
    async (planned) => {
      sizes.push(planned.length);
    },
    {
      wallMs: Date.now,
      monotonicMs: () => clock.nowMs,
      after(_delayMs, run) {
        clock.timers.add(run);
        return { cancel: () => void clock.timers.delete(run) };
      },
    },
  );
  const orgId = newId('org');
  const takeOne = async () => {
    take([succeeded(URL_OF_ALL, { orgId, runId: newRunId(1) })]);
    await new Promise((resolve) => setImmediate(resolve));
  };
  await takeOne();
  await until('the first is stored', () => fates.acked === 1);
  for (let n = 0; n < 20; n++) await takeOne();
  assert.deepEqual(sizes, [1]);
  for (let n = 20; n < 64; n++) await takeOne();
  await until('a full statement does not wait', () => fates.acked === 65);
  clock.nowMs += 100;
  await takeOne();
  await until('the last is stored', () => fates.acked === 66);
  assert.deepEqual(sizes, [1, 64, 1]);
});
