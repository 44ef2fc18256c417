import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@methods/base/clock';
import { OrganizationTurns } from './organization-turns.ts';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

function turnsWithCost(eachMs: number) {
  let nowMs = 0;
  const turns = new OrganizationTurns({ ...systemClock, monotonicMs: () => nowMs });
  const begun: string[] = [];
  const ask = (orgId: string, times = 1) => {
    for (let n = 0; n < times; n++) {
      turns.take(orgId, () => {
        begun.push(orgId);
        // As a body that is read: not within the call.
        process.nextTick(() => {
          nowMs += eachMs;
        });
      });
    }
  };
  const tick = () => new Promise<void>((resolve) => process.nextTick(resolve));
  return { begun, ask, tick };
}

test('once a turn is 5 ms old, four requests of an organization begin in it, and one of another beside them', async () => {
  const { begun, ask, tick } = turnsWithCost(5);
  ask('a');
  await tick();
  ask('a', 10);
  assert.equal(begun.length, 4);
  await tick();
  ask('b');
  await nextTurn();
  assert.deepEqual(begun.slice(4).sort(), ['a', 'a', 'a', 'a', 'b']);
  await nextTurn();
  assert.deepEqual(begun.slice(9), ['a', 'a', 'a']);
  ask('a');
  assert.equal(begun.length, 13);
});

test('quick requests begin 32 in a turn, those that wait as well', async () => {
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

test('an organization with 2,000 that wait is refused, and another is not', () => {
  const { ask } = turnsWithCost(0);
  ask('a', 2_032);
  assert.throws(() => ask('a'), { code: 'rate_limited' });
  ask('b');
});
