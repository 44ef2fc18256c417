import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@methods/base/clock';
import { OrganizationTurns } from './organization-turns.ts';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

function turnsWithCost(eachMs: number) {
  let nowMs = 0;
  const timers = new Set<{ readonly atMs: number; readonly run: () => void }>();
  const turns = new OrganizationTurns({
    ...systemClock,
    monotonicMs: () => nowMs,
    after(ms, run) {
      const timer = { atMs: nowMs + ms, run };
      timers.add(timer);
      return { cancel: () => void timers.delete(timer) };
    },
  });
  const pass = (ms: number) => {
    nowMs += ms;
    for (const timer of timers) {
      if (timer.atMs > nowMs || !timers.delete(timer)) continue;
      timer.run();
    }
  };
  const begun: string[] = [];
  const ask = (orgId: string, times = 1) => {
    for (let n = 0; n < times; n++) {
      turns.take(orgId, () => {
        begun.push(orgId);
        // Like a body that is read: not within the call.
        process.nextTick(() => {
          nowMs += eachMs;
        });
      });
    }
  };
  const tick = () => new Promise<void>((resolve) => process.nextTick(resolve));
  return { begun, ask, tick, pass };
}

test('once a turn is 5 ms old, four requests of an organization begin in it, and four in the next', async () => {
  const { begun, ask, tick } = turnsWithCost(5);
  ask('a');
  await tick();
  ask('a', 10);
  assert.equal(begun.length, 4);
  await nextTurn();
  assert.equal(begun.length, 8);
  await nextTurn();
  assert.equal(begun.length, 11);
  ask('a');
  assert.equal(begun.length, 12);
});

test('while others ask, an organization rests twice as long as its requests took, and the others do not', async () => {
  const { begun, ask, tick, pass } = turnsWithCost(5);
  ask('b');
  await nextTurn();
  ask('a');
  await tick();
  ask('a', 10);
  assert.deepEqual(begun.splice(0).join(''), 'baaaa');
  await nextTurn();
  // 20 ms of work: 40 ms of rest.
  ask('a');
  ask('b', 2);
  assert.equal(begun.splice(0).join(''), 'bb');
  await nextTurn();
  await nextTurn();
  assert.equal(begun.join(''), '');
  pass(29);
  assert.equal(begun.join(''), '');
  pass(2);
  assert.equal(begun.splice(0).join(''), 'aaaa');
  // Its four others follow after another rest.
  await nextTurn();
  pass(40);
  assert.equal(begun.splice(0).join(''), 'aaaa');
  await nextTurn();
  pass(40);
  ask('a');
  assert.equal(begun.join(''), 'a');
});

test('32 quick requests begin in a turn, including those that wait', async () => {
  const { begun, ask } = turnsWithCost(0);
  ask('a', 100);
  assert.equal(begun.length, 32);
  const turns: number[] = [];
  while (begun.length < 100) {
    await nextTurn();
    turns.push(begun.length);
  }
  assert.deepEqual(turns, [36, 68, 100]);
});

test('an organization with 2,000 waiting requests is refused, and another is not', () => {
  const { ask } = turnsWithCost(0);
  ask('a', 2_032);
  assert.throws(() => ask('a'), { code: 'rate_limited' });
  ask('b');
});
