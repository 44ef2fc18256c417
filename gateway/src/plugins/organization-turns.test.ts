import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OrganizationTurns } from './organization-turns.ts';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test('four requests of an organization begin in a turn, and one of another begins beside them', async () => {
  const turns = new OrganizationTurns();
  const begun: string[] = [];
  const ask = (orgId: string, times = 1) => {
    for (let n = 0; n < times; n++) turns.take(orgId, () => begun.push(orgId));
  };
  ask('a', 10);
  assert.equal(begun.length, 4);
  ask('b');
  await nextTurn();
  assert.deepEqual(begun.slice(4).sort(), ['a', 'a', 'a', 'a', 'b']);
  await nextTurn();
  assert.equal(begun.length, 11);
  ask('a');
  assert.equal(begun.length, 12);
});

test('an organization with 2,000 that wait is refused, and another is not', () => {
  const turns = new OrganizationTurns();
  for (let n = 0; n < 2_004; n++) turns.take('a', () => {});
  assert.throws(() => turns.take('a', () => {}), { code: 'rate_limited' });
  turns.take('b', () => {});
});
