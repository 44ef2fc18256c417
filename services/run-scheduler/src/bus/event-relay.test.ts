import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { create, toBinary } from '@bufbuild/protobuf';
import { silentLogger } from '@methods/logging/logger';
import { StoredEventsSchema } from '@methods/proto/event/v1/event_pb';
import { until } from '@methods/test/harness/until';
import { DatabaseClock } from '../database-clock.ts';
import { ManualClock } from '../manual-clock.fixture.ts';
import { newFacts, TestStore } from '../store/run-store.fixture.ts';
import type { OutboxEvent } from '../store/run-store.ts';
import { EventRelay } from './event-relay.ts';

const T0 = 1_000_000;

describe('events on their way to the bus', () => {
  let db: TestStore;
  let clock: ManualClock;
  let databaseClock: DatabaseClock;
  let relay: EventRelay;
  let owned: number[];
  /** `<run>.<seq>` in the order the bus took them. */
  let taken: string[];
  let refuses: (event: OutboxEvent) => boolean;
  let held: { event: OutboxEvent; take: () => void; refuse: () => void }[] | null;

  before(async () => {
    db = await TestStore.open();
  });
  after(() => db.close());

  beforeEach(async () => {
    await db.sql`delete from scheduler.outbox`;
    clock = new ManualClock();
    databaseClock = new DatabaseClock(clock);
    databaseClock.observe(T0);
    owned = [0, 1];
    taken = [];
    refuses = () => false;
    held = null;
    relay = newRelay();
  });

  function newRelay(): EventRelay {
    return new EventRelay({
      store: db.store,
      publisher: { publish },
      databaseClock,
      shardCount: 4,
      ownedShards: () => owned,
      owns: (shard) => owned.includes(shard),
      logger: silentLogger,
    });
  }

  function publish(event: OutboxEvent): Promise<void> {
    return new Promise((resolve, reject) => {
      const take = () => {
        taken.push(event.outboxId);
        resolve();
      };
      const refuse = () => reject(new Error('the bus is away'));
      if (held !== null) held.push({ event, take, refuse });
      else if (refuses(event)) refuse();
      else take();
    });
  }

  /** An event as its commit leaves it: a row. */
  async function eventOf(runId: string, seq: number, ageMs = 0, shard = 0): Promise<OutboxEvent> {
    const createdAtMs = databaseClock.nowMs() - ageMs;
    const event = { outboxId: `${runId}.${seq}`, orgId: 'org_a', runId, shard, seq, createdAtMs, body: Buffer.of(1) };
    await db.sql`insert into scheduler.outbox (outbox_id, org_id, run_id, shard, seq, body, created_at_ms)
      values (${event.outboxId}, 'org_a', ${runId}, ${shard}, ${seq}, ${event.body}, ${createdAtMs})`;
    return event;
  }

  async function commit(runId: string, seq: number): Promise<void> {
    relay.committed([await eventOf(runId, seq)]);
    await new Promise(setImmediate);
  }

  function newRun(shard = 0): string {
    return newFacts(shard).runId;
  }

  async function rows(): Promise<string[]> {
    const found = await db.sql<{ outbox_id: string }[]>`select outbox_id from scheduler.outbox order by seq`;
    return found.map((row) => row.outbox_id);
  }

  test('an event is sent with its commit, and its row stays until the notifier confirms', async () => {
    const run = newRun();
    await commit(run, 1);
    assert.deepEqual(taken, [`${run}.1`]);
    assert.deepEqual(await rows(), [`${run}.1`]);
    relay.confirmed(toBinary(StoredEventsSchema, create(StoredEventsSchema, { outboxIds: [`${run}.1`] })));
    await until('the row is gone', async () => (await rows()).length === 0);
  });

  test("a confirmation of another node's run removes nothing here", async () => {
    const [ours, theirs] = [newRun(0), newRun(3)];
    await eventOf(ours, 1);
    await eventOf(theirs, 2, 0, 3);
    const outboxIds = [`${theirs}.2`, 'nonsense', `${ours}.1`];
    relay.confirmed(toBinary(StoredEventsSchema, create(StoredEventsSchema, { outboxIds })));
    await until('our row is gone', async () => (await rows()).length === 1);
    assert.deepEqual(await rows(), [`${theirs}.2`]);
  });

  test('an unconfirmed event is sent again after 5 s, then ever more seldom', async () => {
    const run = newRun();
    await commit(run, 1);
    const sentAtMs: number[] = [];
    for (let second = 1; second <= 60; second++) {
      clock.forward(1_000);
      const before = taken.length;
      await relay.sweep();
      if (taken.length > before) sentAtMs.push(second);
    }
    assert.deepEqual(sentAtMs, [5, 10, 20, 40]);
  });

  test('a later event of a run waits for the one before it, and follows it at once', async () => {
    const run = newRun();
    held = [];
    await commit(run, 1);
    await commit(run, 2);
    assert.deepEqual(
      held.map(({ event }) => event.seq),
      [1],
    );
    held[0]?.take();
    await until('the second is sent', () => held?.length === 2);
    held[1]?.take();
    assert.deepEqual(taken, [`${run}.1`, `${run}.2`]);
  });

  test('an event the bus did not take holds back all that follow it in its run, and no other run', async () => {
    const [run, other] = [newRun(), newRun()];
    refuses = (event) => event.runId === run;
    await commit(run, 1);
    refuses = () => false;
    await commit(run, 2);
    await commit(other, 1);
    assert.deepEqual(taken, [`${other}.1`]);
    await relay.sweep();
    assert.deepEqual(taken.slice(1), [`${run}.1`, `${run}.2`]);
    await commit(run, 3);
    assert.deepEqual(taken.slice(3), [`${run}.3`]);
  });

  test('a sweep that cannot send the first event of a run sends none of its later ones', async () => {
    const [run, other] = [newRun(), newRun()];
    for (const seq of [1, 2, 3]) await eventOf(run, seq, 10_000 - seq);
    await eventOf(other, 1, 10_000);
    refuses = (event) => event.runId === run && event.seq === 2;
    await relay.sweep();
    assert.deepEqual(new Set(taken), new Set([`${run}.1`, `${other}.1`]));
    refuses = () => false;
    await relay.sweep();
    assert.deepEqual(taken.slice(2), [`${run}.2`, `${run}.3`]);
  });

  test('what an earlier owner left unsent goes out before anything new of the shard', async () => {
    const run = newRun();
    await eventOf(run, 1);
    held = [];
    relay.taken([0]);
    await commit(run, 2);
    await until('the first is sent', () => held?.length === 1);
    held[0]?.take();
    held = null;
    await until('both are sent', async () => {
      await relay.sweep();
      return taken.length >= 2;
    });
    assert.deepEqual(taken.slice(0, 2), [`${run}.1`, `${run}.2`]);
    await commit(run, 3);
    assert.equal(taken.at(-1), `${run}.3`);
  });

  test('when the bus comes back everything unconfirmed is sent, also while a sweep is under way', async () => {
    const run = newRun();
    await eventOf(run, 1, 6_000);
    held = [];
    const sweep = relay.sweep();
    await until('it is sent', () => held?.length === 1);
    const young = newRun();
    await eventOf(young, 1);
    const all = relay.sendAll();
    const [first] = held;
    held = null;
    first?.take();
    await Promise.all([sweep, all]);
    assert.ok(taken.includes(`${young}.1`));
  });

  test('a backlog of many pages goes out in one sweep, and an event that never can holds up nobody', async () => {
    const bad = newRun();
    await eventOf(bad, 1, 100_000);
    const backlog = Array.from({ length: 1_200 }, () => newRun());
    await db.sql`insert into scheduler.outbox (outbox_id, org_id, run_id, shard, seq, body, created_at_ms)
      select r || '.1', 'org_a', r, 0, 1, '\\x01', ${T0 - 50_000} from unnest(${backlog}::text[]) r`;
    refuses = (event) => event.runId === bad;
    await relay.sweep();
    assert.deepEqual(new Set(taken), new Set(backlog.map((run) => `${run}.1`)));
    assert.equal(taken.length, 1_200);
  });

  test('while the bus is away the order of ten thousand runs and more is kept', async () => {
    const runs = Array.from({ length: 10_100 }, () => newRun());
    const createdAtMs = databaseClock.nowMs();
    await db.sql`insert into scheduler.outbox (outbox_id, org_id, run_id, shard, seq, body, created_at_ms)
      select r || '.1', 'org_a', r, 0, 1, '\\x01', ${createdAtMs} from unnest(${runs}::text[]) r`;
    refuses = () => true;
    relay.committed(
      runs.map((runId) => {
        const outboxId = `${runId}.1`;
        return { outboxId, orgId: 'org_a', runId, shard: 0, seq: 1, createdAtMs, body: Buffer.of(1) };
      }),
    );
    await new Promise(setImmediate);
    refuses = () => false;
    const run = runs[0] ?? '';
    await commit(run, 2);
    assert.equal(taken.length, 0);
    await until('both are sent', async () => {
      await relay.sweep();
      return taken.includes(`${run}.2`);
    });
    assert.ok(taken.indexOf(`${run}.1`) < taken.indexOf(`${run}.2`));
  });
});
