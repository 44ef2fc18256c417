import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OrgId, RunId } from '@methods/base/ids';
import { DueLine } from './due-questions.ts';

test('organizations take turns, and each is served in order', () => {
  const line = new DueLine();
  const add = (orgId: OrgId, runId: RunId) =>
    line.add({ orgId, runId, questionId: '', shard: 0, wakeAtMs: 0, bytes: 0 });
  for (const runId of ['run_a1', 'run_a2', 'run_a3', 'run_a4'] as const) add('org_a', runId);
  assert.equal(line.take()?.runId, 'run_a1');
  for (const runId of ['run_b1', 'run_b2'] as const) add('org_b', runId);
  add('org_c', 'run_c1');
  assert.equal(line.size, 6);
  const taken: (string | undefined)[] = [];
  while (line.size > 0) taken.push(line.take()?.runId);
  assert.deepEqual(taken, ['run_a2', 'run_b1', 'run_c1', 'run_a3', 'run_b2', 'run_a4']);
  assert.equal(line.take(), null);
});
