import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runs } from '../run/run.fixture.ts';
import type { RunStore } from '../store/run-store.ts';
import { RunLoader } from './run-loader.ts';

test('callers that need runs in one turn share one read, and a run requested twice is read once', async () => {
  const reads: (readonly string[])[] = [];
  const load: RunStore['load'] = async (runIds) => {
    reads.push(runIds);
    return new Map([['run_a', runs.queued]]);
  };
  const places: RunStore['places'] = async (runIds) => {
    reads.push(runIds);
    return new Map([['run_a', { orgId: 'org_a', revision: 3 }]]);
  };
  const loader = new RunLoader({ load, places });
  const found = await Promise.all((['run_a', 'run_b', 'run_a'] as const).map((runId) => loader.load(runId)));
  assert.deepEqual(found, [runs.queued, null, runs.queued]);
  assert.deepEqual(reads.splice(0), [['run_a', 'run_b']]);
  assert.deepEqual(await Promise.all((['run_a', 'run_b', 'run_a'] as const).map((runId) => loader.place(runId))), [
    { orgId: 'org_a', revision: 3 },
    null,
    { orgId: 'org_a', revision: 3 },
  ]);
  assert.deepEqual(reads, [['run_a', 'run_b']]);
});

test('5,000 runs that are read again in one turn take 20 statements', async () => {
  let statements = 0;
  const places: RunStore['places'] = async () => {
    statements++;
    return new Map();
  };
  const loader = new RunLoader({ places, load: async () => new Map() });
  await Promise.all(Array.from({ length: 5_000 }, (_, run) => loader.place(`run_${run}`)));
  assert.equal(statements, 20);
});

test('a read that fails fails all its callers, and not the next read', async () => {
  let fails = true;
  const load: RunStore['load'] = async () => {
    if (fails) throw new Error('no database');
    return new Map();
  };
  const loader = new RunLoader({ load } as RunStore);
  const outcomes = await Promise.allSettled([loader.load('run_a'), loader.load('run_b')]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  fails = false;
  assert.equal(await loader.load('run_a'), null);
});
