import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OrgId } from '@methods/base/ids';
import { stepsOfRuns } from './step-rows.ts';

test('the steps of a run are read in order, each with its organization', async () => {
  const row = (org_id: OrgId, path: string) => ({
    run_id: 'run_1' as const,
    org_id,
    view_json: JSON.stringify({ path }),
  });
  const steps = await stepsOfRuns([row('org_a', 'one'), row('org_b', 'other'), row('org_a', 'two')]);
  assert.deepEqual(steps.get('org_a/run_1'), [{ path: 'one' }, { path: 'two' }]);
  assert.deepEqual(steps.get('org_b/run_1'), [{ path: 'other' }]);
});

test('while 30,000 steps are read, other work gets its turns', async () => {
  const rows = Array.from({ length: 30_000 }, (_, n) => ({
    run_id: 'run_1' as const,
    org_id: 'org_a' as const,
    view_json: `{"path":"${n}"}`,
  }));
  let turns = 0;
  let over = false;
  const other = () => {
    turns++;
    if (!over) setImmediate(other);
  };
  setImmediate(other);
  const steps = await stepsOfRuns(rows);
  over = true;
  assert.equal(steps.get('org_a/run_1')?.length, 30_000);
  assert.ok(turns >= 29, `${turns} turns`);
});
