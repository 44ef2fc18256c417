import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { claim, giveBack, succeed } from '../run/run.fixture.ts';
import type { Run } from '../run/run.ts';
import type { RunCommand } from '../run/run-command.ts';
import { decide, newFacts, startOf } from './run-store.fixture.ts';
import { type ListedRun, RunningGroups } from './running-groups.ts';

describe('groups of running runs', () => {
  let groups: RunningGroups;

  beforeEach(() => {
    groups = new RunningGroups(1);
  });

  const queued = (shard = 1) => decide(null, startOf(newFacts(shard)), 1).after;
  /** Commits a change of each run; a change that does not happen leaves its run unchanged. */
  function commit(command: RunCommand, runs: readonly Run[], done = new Set(runs.map(({ facts }) => facts.runId))) {
    const batch = runs.map((run) => decide(run, command, 1));
    const changes = groups.changes(batch);
    groups.committed(batch, changes, done);
    return { changes, runs: batch.map(({ before, after }) => (done.has(after.facts.runId) ? after : (before as Run))) };
  }
  const overNow = () => groups.changes([]).over.map(({ groupId }) => groupId);
  const listedAs = (groupId: string, run: Run, isRunning = true): ListedRun => {
    const { runId, orgId, shard } = run.facts;
    return { groupId, orgId, shard, runId, isRunning };
  };

  test('a group ends when the last of its runs has stopped, and is dropped once', () => {
    const { changes, runs } = commit(claim('t1'), [queued(), queued()]);
    const groupId = changes.begun[0]?.group.groupId ?? '';
    assert.deepEqual(
      changes.begun.map(({ group }) => group.groupId),
      [groupId, groupId],
    );
    commit(succeed('t1', 1), runs.slice(0, 1));
    assert.deepEqual(overNow(), []);
    commit(succeed('t1', 1), runs.slice(1));
    assert.deepEqual(overNow(), [groupId]);
    // A commit that fails drops nothing.
    assert.deepEqual(overNow(), [groupId]);
    commit(claim('t1'), [queued()]);
    assert.deepEqual(overNow(), []);
  });

  test('a change that did not happen begins and ends nothing', () => {
    const { runs } = commit(claim('t1'), [queued(), queued()], new Set());
    assert.deepEqual(overNow(), []);
    const begun = commit(claim('t1'), runs);
    commit(succeed('t1', 1), begun.runs, new Set([begun.runs[0]?.facts.runId ?? 'run_none']));
    assert.deepEqual(overNow(), []);
  });

  test('the groups of a lost shard are forgotten', () => {
    const ended = commit(claim('t1'), [queued(1)]);
    const begun = commit(claim('t1'), [queued(1)]);
    commit(succeed('t1', 1), ended.runs);
    groups.forget(new Set([1]));
    assert.deepEqual(overNow(), []);
    commit(succeed('t1', 1), begun.runs);
    assert.deepEqual(overNow(), []);
  });

  test('a run that stops while groups are read does not count as running', async () => {
    const [running] = commit(claim('t1'), [queued()]).runs as [Run];
    groups.forget(new Set([1]));
    await groups.adopt(async () => {
      commit(succeed('t1', 1), [running]);
      return [listedAs('g', running), listedAs('h', running, false)];
    });
    // The read of g may be out of date; h has certainly ended.
    assert.deepEqual(overNow(), ['h']);
  });

  test('no group has ended while one of its runs was running when it was read', async () => {
    const [run] = commit(claim('t1'), [queued()]).runs as [Run];
    const [again] = commit(giveBack('t1', 1), [run]).runs as [Run];
    commit(claim('t0'), [queued()]);
    await groups.adopt(async () => {
      // Its claim is committed but not reported yet: the read row is newer than the known state.
      const batch = [decide(again, claim('t2'), 1)];
      const changes = groups.changes(batch);
      queueMicrotask(() => groups.committed(batch, changes, new Set([again.facts.runId])));
      return [listedAs(changes.begun[0]?.group.groupId ?? '', again)];
    });
    assert.deepEqual(overNow(), []);
  });

  test('a run that two groups list keeps both until it stops', async () => {
    const run = decide(queued(), claim('t1'), 1).after;
    await groups.adopt(async () => [listedAs('g', run), listedAs('h', run)]);
    assert.deepEqual(overNow(), []);
    commit(succeed('t1', 1), [run]);
    assert.deepEqual(overNow(), ['h']);
  });

  test('rows are dropped many at a time', () => {
    groups = new RunningGroups();
    const end = () => commit(succeed('t1', 1), commit(claim('t1'), [queued()]).runs);
    for (let n = 1; n < 32; n++) end();
    assert.deepEqual(overNow(), []);
    end();
    assert.equal(overNow().length, 32);
  });
});
