import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { until } from '@methods/test/harness/until';
import { TestStore } from '../store/run-store.fixture.ts';
import { newRun, TestRelay } from './event-relay.fixture.ts';

describe('events on their way to the bus', () => {
  let db: TestStore;
  let bus: TestRelay;

  before(async () => {
    db = await TestStore.open();
  });
  after(() => db.close());

  beforeEach(async () => {
    bus = await TestRelay.on(db);
  });

  test('an event is sent with its commit, and its row stays until the notifier confirms', async () => {
    const run = newRun();
    await bus.commit(run, 1);
    assert.deepEqual(bus.taken, [`${run}.1`]);
    assert.deepEqual(await bus.rows(), [`${run}.1`]);
    bus.confirm([`${run}.1`]);
    await until('the row is gone', async () => (await bus.rows()).length === 0);
  });

  test("a confirmation of another node's run removes nothing here", async () => {
    const [ours, theirs] = [newRun(0), newRun(3)];
    await bus.eventOf(ours, 1);
    await bus.eventOf(theirs, 2, 0, 3);
    const outboxIds = [`${theirs}.2`, 'nonsense', `${ours}.1`];
    bus.confirm(outboxIds);
    await until('our row is gone', async () => (await bus.rows()).length === 1);
    assert.deepEqual(await bus.rows(), [`${theirs}.2`]);
  });

  test('an unconfirmed event is sent again after 5 s, then ever more seldom', async () => {
    const run = newRun();
    await bus.commit(run, 1);
    const sentAtMs: number[] = [];
    for (let second = 1; second <= 60; second++) {
      bus.clock.forward(1_000);
      const before = bus.taken.length;
      await bus.relay.sweep();
      if (bus.taken.length > before) sentAtMs.push(second);
    }
    assert.deepEqual(sentAtMs, [5, 10, 20, 40]);
  });

  test('a later event of a run waits for the one before it, and follows it at once', async () => {
    const run = newRun();
    bus.held = [];
    await bus.commit(run, 1);
    await bus.commit(run, 2);
    assert.deepEqual(
      bus.held.map(({ event }) => event.seq),
      [1],
    );
    bus.held[0]?.take();
    await until('the second is sent', () => bus.held?.length === 2);
    bus.held[1]?.take();
    assert.deepEqual(bus.taken, [`${run}.1`, `${run}.2`]);
  });

  test('an event that the bus did not take holds back all that follow it in its run, and no other run', async () => {
    const [run, other] = [newRun(), newRun()];
    bus.refuses = (event) => event.runId === run;
    await bus.commit(run, 1);
    bus.refuses = () => false;
    await bus.commit(run, 2);
    await bus.commit(other, 1);
    assert.deepEqual(bus.taken, [`${other}.1`]);
    await bus.relay.sweep();
    assert.deepEqual(bus.taken.slice(1), [`${run}.1`, `${run}.2`]);
    await bus.commit(run, 3);
    assert.deepEqual(bus.taken.slice(3), [`${run}.3`]);
  });

  test('a sweep that cannot send the first event of a run sends none of its later ones', async () => {
    const [run, other] = [newRun(), newRun()];
    for (const seq of [1, 2, 3]) await bus.eventOf(run, seq, 10_000 - seq);
    await bus.eventOf(other, 1, 10_000);
    bus.refuses = (event) => event.runId === run && event.seq === 2;
    await bus.relay.sweep();
    assert.deepEqual(new Set(bus.taken), new Set([`${run}.1`, `${other}.1`]));
    bus.refuses = () => false;
    await bus.relay.sweep();
    assert.deepEqual(bus.taken.slice(2), [`${run}.2`, `${run}.3`]);
  });

  test('unsent events of an earlier owner go out before anything new of the shard', async () => {
    const run = newRun();
    await bus.eventOf(run, 1);
    bus.held = [];
    bus.relay.taken([0]);
    await bus.commit(run, 2);
    await until('the first is sent', () => bus.held?.length === 1);
    bus.held[0]?.take();
    bus.held = null;
    await until('both are sent', async () => {
      await bus.relay.sweep();
      return bus.taken.length >= 2;
    });
    assert.deepEqual(bus.taken.slice(0, 2), [`${run}.1`, `${run}.2`]);
    await bus.commit(run, 3);
    // The last sweep may still send what it read: the third is sent after it.
    await until('the third is sent', () => bus.taken.includes(`${run}.3`));
    assert.ok(bus.taken.indexOf(`${run}.2`) < bus.taken.indexOf(`${run}.3`));
  });

  test('when the bus returns all unconfirmed events are sent, even during a sweep', async () => {
    const run = newRun();
    await bus.eventOf(run, 1, 6_000);
    bus.held = [];
    const sweep = bus.relay.sweep();
    await until('it is sent', () => bus.held?.length === 1);
    const young = newRun();
    await bus.eventOf(young, 1);
    const all = bus.relay.sendAll();
    const [first] = bus.held;
    bus.held = null;
    first?.take();
    await Promise.all([sweep, all]);
    assert.ok(bus.taken.includes(`${young}.1`));
  });

  test("a run's events go in their order, with any clocks of their owners", async () => {
    const run = newRun();
    await bus.eventOf(run, 1, 50_000);
    await bus.eventOf(run, 2, 50_003);
    await bus.relay.sweep();
    assert.deepEqual(bus.taken, [`${run}.1`, `${run}.2`]);
  });

  test('when the bus returns, perhaps empty, no new event is sent before those it may have lost', async () => {
    const run = newRun();
    await bus.commit(run, 1);
    bus.taken.length = 0;
    bus.held = [];
    const next = await bus.eventOf(run, 2);
    const all = bus.relay.sendAll();
    bus.relay.committed([next]);
    await until('something is sent', () => (bus.held?.length ?? 0) > 0);
    assert.deepEqual(
      bus.held.map(({ event }) => event.seq),
      [1],
    );
    const [first] = bus.held;
    bus.held = null;
    first?.take();
    await all;
    await bus.relay.sweep();
    assert.deepEqual(bus.taken, [`${run}.1`, `${run}.2`]);
    await bus.commit(run, 3);
    assert.equal(bus.taken.at(-1), `${run}.3`);
  });

  test('a shard lost and taken again while a sweep ends is held back until the next one', async () => {
    const run = newRun(1);
    bus.endRead = async () => {
      bus.endRead = async () => {};
      bus.relay.lost([1]);
      // Another owner's, committed when the sweep had read everything.
      await bus.eventOf(run, 1, 0, 1);
      bus.relay.taken([1]);
    };
    bus.held = [];
    bus.relay.taken([1]);
    await until('the next sweep sends', () => bus.held?.length === 1);
    bus.relay.committed([await bus.eventOf(run, 2, 0, 1)]);
    assert.deepEqual(
      bus.held.map(({ event }) => event.outboxId),
      [`${run}.1`],
    );
  });
});
