import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '@methods/logging/logger';
import type { Sql } from '@methods/postgres/pool';
import { ManualClock } from '../manual-clock.fixture.ts';
import { Membership } from './membership.ts';

class CountingClock extends ManualClock {
  wakes = 0;

  override after(delayMs: number, run: () => void) {
    this.wakes++;
    return super.after(delayMs, run);
  }
}

test('a node that knows no other wakes once a beat, and more often once it knows one', async () => {
  const clock = new CountingClock();
  const beats: number[] = [];
  const rows: object[] = [];
  const answer = () => Promise.resolve(rows);
  const bus = { nodes: { put: async () => void beats.push(clock.monotonicMs()), watch: () => ({ unsubscribe() {} }) } };
  const membership = new Membership({
    nodeId: 'node_a',
    peerAddress: () => '127.0.0.1:1',
    bus: { ...bus, onConnected: () => () => {} },
    sql: answer as unknown as Sql,
    clock,
    logger: silentLogger,
  });
  await membership.start();
  const wakes = async () => {
    const before = { wakes: clock.wakes, beats: beats.length };
    for (let n = 0; n < 40; n++) {
      clock.forward(250);
      for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    return { wakes: clock.wakes - before.wakes, beats: beats.length - before.beats };
  };
  assert.deepEqual(await wakes(), { wakes: 10, beats: 10 });
  rows.push({ nodeId: 'node_b', peerAddress: '127.0.0.1:2', beat: 1, leaving: false, ageMs: 0 });
  const withOther = await wakes();
  assert.equal(withOther.beats, 10);
  // Four checks a second, until it has been silent for three.
  assert.ok(withOther.wakes > 15, `${withOther.wakes} times`);
  assert.deepEqual(membership.presence(), { alive: ['node_a'], gone: ['node_b'] });
  membership.stop();
});
