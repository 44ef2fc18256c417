import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DueLine } from './due-line.ts';

test('organizations take turns, and each is served in order', () => {
  const line = new DueLine();
  const add = (orgId: string, runId: string) =>
    line.add({ orgId, runId, questionId: '', shard: 0, wakeAtMs: 0, bytes: 0 });
  for (const runId of ['a1', 'a2', 'a3', 'a4']) add('org_a', runId);
  assert.equal(line.take()?.runId, 'a1');
  for (const runId of ['b1', 'b2']) add('org_b', runId);
  add('org_c', 'c1');
  assert.equal(line.size, 6);
  const taken: (string | undefined)[] = [];
  while (line.size > 0) taken.push(line.take()?.runId);
  assert.deepEqual(taken, ['a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
  assert.equal(line.take(), null);
});
