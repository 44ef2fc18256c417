import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '@methods/base/clock';
import { RunStatus, type RunView } from '@methods/proto/run/v1/run_pb';
import { leastCpuMs } from '@methods/test/harness/cpu-time';
import { RunBook } from '../testing/run-book.fixture.ts';
import { PushedRuns } from './pushed-runs.ts';

function pushedRuns() {
  const time = { nowMs: 0 };
  const clock: Clock = { wallMs: () => time.nowMs, monotonicMs: () => time.nowMs, after: () => ({ cancel() {} }) };
  return { time, pushed: new PushedRuns(clock) };
}

let starts = 0;

function finishedRun(resultJson = '{}'): RunView {
  const book = new RunBook();
  const { run } = book.start({
    $typeName: 'methods.scheduler.v1.StartRun',
    orgId: 'org_a',
    method: 'wf_0',
    versionId: 'ver_0',
    inputsJson: '{}',
    idempotencyHash: Buffer.from(String(++starts)),
    requestDigest: new Uint8Array(),
    webhookUrl: '',
    keyId: '',
    answerBy: 0,
    metadata: {},
    needs: [],
    cleansUp: false,
    onlyComputes: false,
    contentId: '',
    rerunOf: '',
  });
  return book.succeed(run.runId, resultJson);
}

test('a pushed run is read by the organization that started it, in either order of push and reply', () => {
  const { pushed } = pushedRuns();
  const [before, after, nobodys] = [finishedRun(), finishedRun(), finishedRun()];
  pushed.belongs('org_a', before.runId);
  pushed.put(before);
  pushed.put(after);
  pushed.belongs('org_a', after.runId);
  pushed.put(nobodys);
  assert.equal(pushed.finished('org_a', before.runId), before);
  assert.equal(pushed.finished('org_a', after.runId), after);
  assert.equal(pushed.finished('org_b', before.runId), null);
  assert.equal(pushed.finished('org_a', nobodys.runId), null);
});

test('a finished run is not kept once its waiting caller has it; a waiting one is', () => {
  const { pushed } = pushedRuns();
  const run = finishedRun();
  const waiting: RunView = { ...run, status: RunStatus.WAITING, revision: run.revision - 1 };
  pushed.belongs('org_a', run.runId);
  pushed.put(waiting);
  pushed.delivered(waiting);
  assert.equal(pushed.latest(run.runId), waiting);
  pushed.put(run);
  pushed.delivered(waiting);
  assert.equal(pushed.finished('org_a', run.runId), run);
  pushed.delivered(run);
  assert.deepEqual([pushed.finished('org_a', run.runId), pushed.bytes], [null, 0]);
});

test('an older state never replaces a newer one', () => {
  const { pushed } = pushedRuns();
  const run = finishedRun();
  pushed.belongs('org_a', run.runId);
  pushed.put(run);
  pushed.put({ ...run, status: RunStatus.WAITING, revision: run.revision - 1 });
  assert.equal(pushed.finished('org_a', run.runId), run);
});

test('runs are kept for half a minute', () => {
  const { pushed, time } = pushedRuns();
  const run = finishedRun();
  pushed.belongs('org_a', run.runId);
  pushed.put(run);
  time.nowMs = 29_000;
  pushed.trim();
  assert.ok(pushed.latest(run.runId));
  time.nowMs = 30_000;
  pushed.trim();
  assert.equal(pushed.latest(run.runId), null);
  assert.equal(pushed.bytes, 0);
});

test('large results of unclaimed runs stay within a share, and the oldest are evicted', () => {
  const { pushed } = pushedRuns();
  const result = `"${'x'.repeat(1024 * 1024)}"`;
  const runs = Array.from({ length: 40 }, () => finishedRun(result));
  for (const run of runs) pushed.put(run);
  assert.ok(pushed.bytes <= 16 * 1024 * 1024);
  assert.equal(pushed.latest(runs[0]?.runId ?? 'run_none'), null);
  assert.ok(pushed.latest(runs.at(-1)?.runId ?? 'run_none'));
});

test('an organization that fills its share evicts no run of another', () => {
  const { pushed } = pushedRuns();
  const theirs = finishedRun();
  pushed.read(theirs, 'org_b');
  const result = `"${'x'.repeat(1024 * 1024)}"`;
  for (let i = 0; i < 100; i++) pushed.read(finishedRun(result), 'org_a');
  assert.ok(pushed.bytes <= 17 * 1024 * 1024);
  assert.equal(pushed.finished('org_b', theirs.runId), theirs);
});

test('keeping a run costs the same with many runs, kept or evicted, as with few', () => {
  const { pushed } = pushedRuns();
  const one = finishedRun();
  let next = 0;
  const keep = (count: number): void => {
    for (let i = 0; i < count; i++) pushed.read({ ...one, runId: `run_${next++}` }, 'org_a');
  };
  keep(4_000);
  const firstMs = leastCpuMs(0, () => keep(4_000));
  keep(40_000);
  const lastMs = leastCpuMs(8 * firstMs, () => keep(4_000));
  assert.ok(lastMs < 8 * firstMs + 10, `${firstMs} ms, then ${lastMs} ms`);
});
