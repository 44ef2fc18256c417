import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runs } from '../run/run.fixture.ts';
import type { RunStore } from '../store/run-store.ts';
import { RunLoader } from './run-loader.ts';

test('whoever needs a run in one turn shares one read, and a run asked for twice is read once', async () => {
  const reads: (readonly string[])[] = [];
  const load: RunStore['load'] = async (runIds) => {
    reads.push(runIds);
    return new Map([['run_a', runs.queued]]);
  };
  const loader = new RunLoader({ load } as RunStore);
  const found = await Promise.all(['run_a', 'run_b', 'run_a'].map((runId) => loader.load(runId)));
  assert.deepEqual(found, [runs.queued, null, runs.queued]);
  assert.deepEqual(reads, [['run_a', 'run_b']]);
});

test('a read that fails fails all who wait for it, and not the next', async () => {
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
