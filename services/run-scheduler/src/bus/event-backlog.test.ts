import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { RunId } from '@methods/base/ids';
import { until } from '@methods/test/harness/until';
import { TestStore } from '../store/run-store.fixture.ts';
import { newRun, TestRelay } from './event-relay.fixture.ts';

describe('a long outbox', () => {
  let db: TestStore;
  let bus: TestRelay;

  before(async () => {
    db = await TestStore.open();
  });
  after(() => db.close());

  afterEach(() => bus.end());
  beforeEach(async () => {
    bus = await TestRelay.on(db);
  });

  test('a backlog of many pages is sent as it is confirmed, and an event that is never confirmed delays no other', async () => {
    const bad = newRun();
    await bus.eventOf(bad, 1, 100_000);
    const backlog = await bus.backlog(2_500, 50_000);
    bus.refuses = (event) => event.runId === bad;
    bus.confirms = true;
    await bus.relay.sweep();
    await until('all is sent', () => bus.taken.length >= 2_500);
    assert.deepEqual(new Set(bus.taken), new Set(backlog.map((event) => event.outboxId)));
    assert.equal(bus.taken.length, 2_500);
    await until('only the bad one is left', async () => (await bus.rows()).length === 1);
  });

  test('a backlog that the notifier confirms slowly is sent about once, oldest first', async () => {
    const old = await bus.backlog(1_500, 90_000);
    const young = await bus.backlog(1_500, 10_000);
    let confirmed = 0;
    for (let second = 1; confirmed < 3_000; second++) {
      assert.ok(second < 60, `${confirmed} confirmed of ${bus.taken.length} sent`);
      await bus.relay.sweep();
      const some = bus.taken.slice(confirmed, confirmed + 250);
      confirmed += some.length;
      bus.confirm(some);
      await until(
        'their rows are gone',
        async () => (await bus.rows()).length === 3_000 - new Set(bus.taken.slice(0, confirmed)).size,
      );
      bus.clock.forward(1_000);
    }
    assert.ok(bus.asked <= 3_100, `${bus.asked} sent`);
    assert.deepEqual(new Set(bus.taken.slice(0, 1_500)), new Set(old.map((event) => event.outboxId)));
    assert.deepEqual(new Set(bus.taken.slice(1_500)), new Set(young.map((event) => event.outboxId)));
  });

  test('an event is sent once, although its row is removed slowly', async () => {
    await bus.backlog(1_500, 50_000);
    bus.removalMs = 100;
    bus.confirms = true;
    await bus.relay.sweep();
    bus.clock.forward(60_000);
    await bus.relay.sweep();
    await until('all are sent and removed', async () => bus.taken.length >= 1_500 && (await bus.rows()).length === 0);
    assert.equal(bus.asked, 1_500);
  });

  test("while the notifier is silent, only an organization's share of a backlog is on the bus", async () => {
    await bus.backlog(3_000, 90_000);
    await bus.backlog(3, 20_000, { orgId: 'org_b' });
    await bus.relay.sweep();
    assert.ok(bus.taken.length < 1_100, `${bus.taken.length} sent`);
    const other = (await bus.rows('org_b')).filter((id) => bus.taken.includes(id));
    assert.equal(other.length, 3);
  });

  test('while a backlog is sent, even one the bus may have lost, new events of other runs are sent at once', async () => {
    await bus.backlog(3_000, 90_000);
    await bus.relay.sendAll();
    const sent = bus.taken.length;
    assert.ok(sent < 1_100, `${sent} sent`);
    const [fresh, waiting] = [newRun(), bus.taken[0]?.slice(0, -2) ?? ''];
    await bus.commit(fresh, 1);
    await bus.commit(waiting as RunId, 2);
    bus.confirm(bus.taken.slice(0, 10));
    await until(
      'the new events are sent',
      () => bus.taken.includes(`${fresh}.1`) && bus.taken.includes(`${waiting}.2`),
    );
    assert.ok(bus.taken.length < sent + 100, `${bus.taken.length - sent} more sent`);
  });

  test('at most one page of a backlog is in memory: the next is read once the bus has taken the page before', async () => {
    await bus.backlog(40, 50_000, { bodyBytes: 1 << 20 });
    bus.held = [];
    const sweep = bus.relay.sweep();
    for (let page = 1; page <= 5; page++) {
      const sent = await until(`page ${page} is sent`, () => (bus.held?.length === 8 ? bus.held.splice(0) : null));
      assert.deepEqual([bus.taken.length, bus.asked], [(page - 1) * 8, page * 8]);
      for (const { take } of sent) take();
    }
    await sweep;
    assert.equal(bus.taken.length, 40);
  });

  test('a sweep ends after its first pages while the bus takes nothing', async () => {
    await bus.backlog(2_500, 50_000);
    bus.refuses = () => true;
    await bus.relay.sweep();
    assert.ok(bus.asked <= 1_000, `${bus.asked} asked`);
  });

  test('an event too large for the bus does not count as an outage: the events behind it are sent', async () => {
    const bad = newRun();
    await bus.eventOf(bad, 1, 100_000);
    await bus.backlog(999, 60_000);
    bus.confirms = true;
    bus.refusal = Object.assign(new Error('too large'), { code: 'too_large' });
    bus.refuses = (event) => event.runId === bad;
    await bus.relay.sweep();
    await bus.backlog(501, 50_000);
    await bus.relay.sweep();
    await until('the rest is sent', () => new Set(bus.taken).size === 1_500);
  });

  test('an event that fails on one page holds back the later ones of its run on other pages', async () => {
    const run = newRun();
    await bus.eventOf(run, 1, 70_000);
    await bus.backlog(1_000, 60_000);
    await bus.eventOf(run, 2, 50_000);
    bus.refuses = (event) => event.runId === run && event.seq === 1;
    bus.confirms = true;
    await bus.relay.sweep();
    await until('the others are sent', () => bus.taken.length >= 1_000);
    await bus.relay.sweep();
    assert.deepEqual([bus.taken.length, bus.taken.includes(`${run}.2`)], [1_000, false]);
    bus.refuses = () => false;
    await bus.relay.sweep();
    assert.deepEqual(bus.taken.slice(1_000), [`${run}.1`, `${run}.2`]);
  });

  test('while the bus is unavailable, the order of more than ten thousand runs is kept', async () => {
    const events = (
      await Promise.all(Array.from({ length: 30 }, (_, org) => bus.backlog(340, 0, { orgId: `org_${org}` })))
    ).flat();
    bus.refuses = () => true;
    bus.relay.committed(events);
    await new Promise(setImmediate);
    bus.refuses = () => false;
    const { runId: run, orgId } = events[0] ?? assert.fail();
    await bus.commit(run, 2, 0, orgId);
    assert.ok(!bus.taken.includes(`${run}.2`));
    bus.confirms = true;
    await until('both are sent', async () => {
      await bus.relay.sweep();
      return bus.taken.includes(`${run}.2`);
    });
    assert.ok(bus.taken.indexOf(`${run}.1`) < bus.taken.indexOf(`${run}.2`));
  });

  test('new events of an organization use its share of the bus, do not delay another organization, and are all sent as they are confirmed', async () => {
    const burst = await bus.backlog(3_000, 0);
    for (let from = 0; from < burst.length; from += 100) bus.relay.committed(burst.slice(from, from + 100));
    assert.ok(bus.asked <= 500, `${bus.asked} sent with their commit`);
    const other = await bus.backlog(3, 0, { orgId: 'org_b' });
    bus.relay.committed(other);
    await new Promise(setImmediate);
    const sent = bus.taken.indexOf(other[0]?.outboxId ?? '');
    assert.ok(sent >= 0 && sent < 1_100, `sent as number ${sent}`);
    await bus.relay.sweep();
    assert.ok(bus.taken.length <= 1_100, `${bus.taken.length} on the bus`);
    bus.clock.forward(6_000);
    bus.confirms = true;
    bus.confirm(bus.taken.slice());
    const mine = new Set(burst.map(({ outboxId }) => outboxId));
    await until('all are sent', async () => {
      bus.clock.forward(500);
      await bus.relay.sweep();
      // The database may be slower than the test's clock, and a row that still exists would be sent again.
      await until('what is confirmed is gone', async () => {
        const left = (await bus.rows()).length;
        return left <= mine.size - new Set(bus.taken.filter((outboxId) => mine.has(outboxId))).size;
      });
      return (await bus.rows()).length === 0;
    });
    assert.ok(bus.asked < 3_700, `${bus.asked} sent`);
  });

  test('an event behind one that waits for its share is not sent before it, until a sweep has sent the due ones', async () => {
    const burst = await bus.backlog(1_200, 0);
    bus.relay.committed(burst);
    const last = burst.at(-1)?.runId ?? 'run_none';
    bus.confirms = true;
    bus.confirm(burst.slice(0, 500).map(({ outboxId }) => outboxId));
    await bus.commit(last, 2);
    await until('it is sent', async () => {
      bus.clock.forward(1_000);
      await bus.relay.sweep();
      return bus.taken.includes(`${last}.2`);
    });
    assert.ok(bus.taken.includes(`${last}.1`) && bus.taken.indexOf(`${last}.1`) < bus.taken.indexOf(`${last}.2`));
    await until('all are sent', async () => {
      bus.clock.forward(500);
      await bus.relay.sweep();
      return (await bus.rows()).length === 0;
    });
    for (const ms of [0, 11_000]) {
      bus.clock.forward(ms);
      await bus.relay.sweep();
    }
    const fresh = await bus.eventOf(newRun(), 1);
    bus.held = [];
    bus.relay.committed([fresh]);
    assert.equal(bus.held.length, 1);
    for (const { take } of bus.held) take();
  });
});
