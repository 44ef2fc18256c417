import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Clock, systemClock } from '@methods/base/clock';
import { newId, newRunId, type OrgId } from '@methods/base/ids';
import { runEvent } from '@methods/bus/subjects';
import { silentLogger } from '@methods/logging/logger';
import { RunEventSchema, StoredEventsSchema } from '@methods/proto/event/v1/event_pb';
import { decoder, encoder } from '@methods/rpc/message-codec';
import { until } from '@methods/test/harness/until';
import { type NotifierDatabase, notifierDatabase } from '../../test/notifier-database.fixture.ts';
import { type Event, succeeded } from '../../test/notifier-stack.fixture.ts';
import type { EndpointTarget } from '../delivery/endpoint-target.ts';
import { type PlannedEvent, storeEvents } from '../store/store-events.ts';
import { RunEventIntake, type RunEventIntakeOptions } from './run-event-intake.ts';

let database: NotifierDatabase;
before(async () => {
  database = await notifierDatabase();
});
after(() => database[Symbol.asyncDispose]());

const encode = encoder(RunEventSchema);
const decode = decoder(StoredEventsSchema);
const URL_OF_ALL = 'https://hook.example/in';

function intake(
  store = (planned: readonly PlannedEvent[]): Promise<void> => storeEvents(database.sql, planned),
  clock: Clock = systemClock,
  endpoints: RunEventIntakeOptions['endpoints'] = () => [],
) {
  const fates = { acked: 0, refused: 0 };
  const storedEvents = async () => new Set<string>();
  const confirmed: string[] = [];
  const parts = {
    store,
    mails: false,
    endpoints,
    storedEvents,
    clock,
    publish: (_subject: string, bytes: Uint8Array) => confirmed.push(...decode(Buffer.from(bytes)).outboxIds) > 0,
    onStored: () => {},
    logger: silentLogger,
  };
  const taking = new RunEventIntake(parts);
  const message = (event: Event) => ({
    subject: runEvent(event.orgId ?? '', 'run'),
    data: encode(event),
    ack: () => void fates.acked++,
    nak: () => void fates.refused++,
  });
  return { taking, fates, confirmed, take: (events: readonly Event[]) => taking.take(events.map(message)) };
}

/** Before Postgres's first day: it decodes, but no statement can store it. */
const impossible = () => succeeded(URL_OF_ALL, { createdAtMs: -8e15 });

test('an event that Postgres refuses is not stored, and the others are', async () => {
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

test('an organization whose endpoints are unknown delays only its own events, and only as many as fit', async () => {
  const stored: (string | undefined)[] = [];
  const [slow, other] = [newId('org'), newId('org')];
  let answer = (_targets: readonly never[]) => {};
  const time = { ms: 0 };
  const clock = { wallMs: Date.now, monotonicMs: () => time.ms, after: systemClock.after };
  const asked = new Promise<readonly never[]>((resolve) => {
    answer = resolve;
  });
  const store = async (planned: readonly PlannedEvent[]) => {
    stored.push(...planned.flatMap(({ deliveries }) => deliveries.map(({ orgId }) => orgId)));
  };
  const { take, fates, confirmed } = intake(store, clock, (orgId) => (orgId === slow ? asked : []));
  take([succeeded(URL_OF_ALL, { orgId: slow }), succeeded(URL_OF_ALL, { orgId: other })]);
  await until('the other one is stored', () => stored.includes(other));
  assert.deepEqual([stored, fates], [[other], { acked: 1, refused: 0 }]);
  const more = Array.from({ length: 300 }, () => succeeded(URL_OF_ALL, { orgId: slow, runId: newRunId(1) }));
  take(more.slice(0, 280));
  assert.deepEqual(fates, { acked: 1, refused: 25 }, 'those without room come again');
  time.ms = 1_000;
  take(more.slice(280));
  assert.deepEqual(fates, { acked: 21, refused: 25 }, 'or are left to the scheduler, neither kept nor confirmed');
  answer([]);
  await until('the rest is stored', () => fates.acked === 277);
  assert.equal(confirmed.length, 257);
  assert.ok(more.slice(-45).every(({ outboxId }) => !confirmed.includes(outboxId ?? '')));
  take([succeeded(URL_OF_ALL, { orgId: other })]);
  await until('there is room again', () => fates.acked === 278);
});

test('events of an organization are redelivered when the registry is unavailable for its endpoints', async () => {
  const { take, fates, confirmed } = intake(undefined, systemClock, async () => Promise.reject(new Error('down')));
  take([succeeded(URL_OF_ALL), succeeded(URL_OF_ALL)]);
  await until('both are refused', () => fates.refused === 2);
  assert.deepEqual([fates.acked, confirmed], [0, []]);
});

test('an event on the subject of another organization is refused', async () => {
  const { taking, fates, confirmed } = intake(async (planned) => assert.equal(planned.length, 0));
  const event = succeeded(URL_OF_ALL);
  taking.take([
    { subject: runEvent(newId('org'), 'run'), data: encode(event), ack: () => void fates.acked++, nak: () => {} },
  ]);
  await until('it is confirmed', () => confirmed.includes(event.outboxId ?? ''));
});

test('an event without a possible body is confirmed, and the next one is stored', async () => {
  const { take, fates } = intake();
  const question = { id: 'q_1', step: 'a', prompt: 'Well?', deadlineAtMs: 1e300 } as never;
  take([succeeded(URL_OF_ALL, { event: 'needs_input', question })]);
  take([succeeded(URL_OF_ALL)]);
  await until('both are confirmed', () => fates.acked === 2);
});

/** Statements that wait until they are released. */
function heldStore() {
  const statements: PlannedEvent[][] = [];
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const store = async (planned: readonly PlannedEvent[]) => {
    statements.push([...planned]);
    await released;
  };
  return { statements, store, release };
}

const RESULT = JSON.stringify('x'.repeat(500_000));
const large = (orgId: OrgId) => succeeded(URL_OF_ALL, { orgId, runId: newRunId(1), resultJson: RESULT });

const endpointTarget = (n: number): EndpointTarget => ({
  endpointId: newId('ep'),
  name: `e${n}`,
  format: 'webhook',
  url: `https://hook.example/${n}`,
  events: ['succeeded'],
  paused: false,
  secret: '',
  earlier: [],
  changedAtMs: 0,
});

test('large events are stored a few at a time, and those beyond the share of their organization come again', async () => {
  const { statements, store, release } = heldStore();
  const { take, fates } = intake(store);
  const orgId = newId('org');
  take(Array.from({ length: 40 }, () => large(orgId)));
  assert.ok(fates.refused >= 20 && fates.refused < 40, `${fates.refused} come again`);
  release();
  await until('the others are stored', () => fates.acked + fates.refused === 40);
  const bytes = statements.map((planned) =>
    planned.flatMap(({ deliveries }) => deliveries).reduce((sum, { body }) => sum + body.length, 0),
  );
  assert.ok(Math.max(...bytes) < 3 << 20, bytes.join());
});

test('no more is fetched while several organizations have much to store', async () => {
  const { store, release } = heldStore();
  const { taking, take } = intake(store);
  for (let org = 0; org < 5; org++) {
    const orgId = newId('org');
    take(Array.from({ length: 20 }, () => large(orgId)));
  }
  let ready = false;
  const room = taking.ready().then(() => {
    ready = true;
  });
  await new Promise(setImmediate);
  assert.equal(ready, false);
  release();
  await room;
});

test('an event is not stored after all large ones of another organization', async () => {
  const { statements, store, release } = heldStore();
  const { take } = intake(store, systemClock, (orgId) => (orgId === flooding ? endpoints : []));
  const [flooding, other] = [newId('org'), newId('org')];
  const endpoints = Array.from({ length: 20 }, (_, n) => endpointTarget(n));
  const resultJson = JSON.stringify('x'.repeat(100_000));
  take(Array.from({ length: 300 }, () => succeeded('', { orgId: flooding, runId: newRunId(1), resultJson })));
  take([succeeded(URL_OF_ALL, { orgId: other })]);
  release();
  const statementOf = () =>
    statements.findIndex((planned) => planned.some(({ deliveries }) => deliveries[0]?.orgId === other));
  await until('it is stored', () => statementOf() >= 0);
  assert.ok(statementOf() <= 2, `in statement ${statementOf()}`);
});

test('an organization has a bounded number of events handed back to the bus', async () => {
  const { take, fates, confirmed } = intake(() => Promise.reject(new Error('down')));
  const [flooding, other] = [newId('org'), newId('org')];
  take(Array.from({ length: 300 }, () => succeeded(URL_OF_ALL, { orgId: flooding, runId: newRunId(1) })));
  await until('all are back', () => fates.refused + fates.acked === 300);
  assert.deepEqual([fates, confirmed], [{ refused: 128, acked: 172 }, []]);
  take([succeeded(URL_OF_ALL, { orgId: other })]);
  await until('the other one is back', () => fates.refused === 129);
});

test('events that arrive one by one are stored together, those after a pause at once', async () => {
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
