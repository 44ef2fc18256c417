import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stepsOfRuns } from './step-rows.ts';

test('the steps of a run are read in order, each with its organization', async () => {
  const row = (org_id: string, path: string) => ({ run_id: 'run_1', org_id, view_json: JSON.stringify({ path }) });
  const steps = await stepsOfRuns([row('a', 'one'), row('b', 'other'), row('a', 'two')]);
  assert.deepEqual(steps.get('a/run_1'), [{ path: 'one' }, { path: 'two' }]);
  assert.deepEqual(steps.get('b/run_1'), [{ path: 'other' }]);
});

test('while 30,000 steps are read, other work has its turns', async () => {
  const rows = Array.from({ length: 30_000 }, (_, n) => ({
    run_id: 'run_1',
    org_id: 'a',
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
  assert.equal(steps.get('a/run_1')?.length, 30_000);
  assert.ok(turns >= 29, `${turns} turns`);
});
