import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
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

  beforeEach(async () => {
    bus = await TestRelay.on(db);
  });

  test('a backlog of many pages goes out in one sweep, and an event that never can holds up nobody', async () => {
    const bad = newRun();
    await bus.eventOf(bad, 1, 100_000);
    const backlog = await bus.backlog(2_500, 50_000);
    bus.refuses = (event) => event.runId === bad;
    await bus.relay.sweep();
    assert.deepEqual(new Set(bus.taken), new Set(backlog.map((event) => event.outboxId)));
    assert.equal(bus.taken.length, 2_500);
  });

  test('of a backlog no more than a page is in memory: the next is read when the bus has taken the one before', async () => {
    await bus.backlog(40, 50_000, 1 << 20);
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

  test('while the bus takes nothing a sweep ends with its first page', async () => {
    await bus.backlog(2_500, 50_000);
    bus.refuses = () => true;
    await bus.relay.sweep();
    assert.equal(bus.asked, 1_000);
  });

  test('an event beyond what the bus takes is no sign that the bus is away: what stands behind it goes out', async () => {
    const bad = newRun();
    await bus.eventOf(bad, 1, 100_000);
    await bus.backlog(999, 60_000);
    bus.refusal = Object.assign(new Error('too large'), { code: 'too_large' });
    bus.refuses = (event) => event.runId === bad;
    await bus.relay.sweep();
    await bus.backlog(501, 50_000);
    await bus.relay.sweep();
    assert.equal(new Set(bus.taken).size, 1_500);
  });

  test('an event that fails on one page keeps the later ones of its run on other pages back', async () => {
    const run = newRun();
    await bus.eventOf(run, 1, 70_000);
    await bus.backlog(1_000, 60_000);
    await bus.eventOf(run, 2, 50_000);
    bus.refuses = (event) => event.runId === run && event.seq === 1;
    await bus.relay.sweep();
    assert.deepEqual([bus.taken.length, bus.taken.includes(`${run}.2`)], [1_000, false]);
    bus.refuses = () => false;
    await bus.relay.sweep();
    assert.deepEqual(bus.taken.slice(1_000), [`${run}.1`, `${run}.2`]);
  });

  test('while the bus is away the order of ten thousand runs and more is kept', async () => {
    const events = await bus.backlog(10_100, 0);
    bus.refuses = () => true;
    bus.relay.committed(events);
    await new Promise(setImmediate);
    bus.refuses = () => false;
    const run = events[0]?.runId ?? '';
    await bus.commit(run, 2);
    assert.equal(bus.taken.length, 0);
    await until('both are sent', async () => {
      await bus.relay.sweep();
      return bus.taken.includes(`${run}.2`);
    });
    assert.ok(bus.taken.indexOf(`${run}.1`) < bus.taken.indexOf(`${run}.2`));
  });
});
