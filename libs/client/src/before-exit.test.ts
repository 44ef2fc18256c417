import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beforeExit } from './before-exit.ts';

test('the workers of many clients need one listener, and each leaves once', () => {
  const count = () => process.listenerCount('beforeExit');
  const before = count();
  const left: number[] = [];
  const leaves = Array.from({ length: 20 }, (_, n) => () => void left.push(n));
  for (const leave of leaves) beforeExit.add(leave);
  assert.equal(count(), before + 1);
  for (const leave of leaves.slice(2)) beforeExit.remove(leave);
  const [leaveAll] = process.listeners('beforeExit').slice(-1);
  leaveAll?.(0);
  leaveAll?.(0);
  assert.deepEqual([left, count()], [[0, 1], before]);
  beforeExit.add(leaves[0] as () => void);
  beforeExit.remove(leaves[0] as () => void);
  assert.equal(count(), before);
});
