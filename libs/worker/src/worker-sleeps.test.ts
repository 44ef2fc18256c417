import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { StepStatus } from '@methods/proto/run/v1/run_pb';
import { until } from '@methods/test/harness/until';
import { TestWorker } from './test-worker.fixture.ts';
import { type TestRun, WorkerNode } from './worker-node.fixture.ts';

const PAUSE = `format: method/2
name: pause
steps:
  - name: before
    http: { get: "http://steps.test/before" }
    out: { n: integer }
  - name: pause
    wait: 2h
  - name: after
    http: { get: "http://steps.test/after" }
    out: { n: integer }
result: { n: =steps.after.n }
`;

const ONCE = `format: method/2
name: once
steps:
  - name: pay
    http: { post: "http://steps.test/pay" }
    on_interrupt: fail
`;

let node: WorkerNode;
beforeEach(async () => {
  node = await WorkerNode.start();
});
afterEach(() => node.stop());

function records({ recorded }: TestRun) {
  return recorded.flatMap((item) => (item.case === 'stepRecord' ? [item.value] : []));
}

describe('a wait of more than a minute', () => {
  it('is reported with the time left and occupies no place of the worker', async () => {
    await using started = await TestWorker.start(node, { concurrency: 1 });
    const versionId = node.publish(PAUSE);
    const run = node.grant({ versionId });
    (await started.request('before')).answer({ n: 1 });
    await until('it sleeps', () => run.ended);
    const sleep = run.recorded.at(-1);
    assert.ok(sleep?.case === 'sleep');
    assert.ok(sleep.value.waitMs > 7_190_000 && sleep.value.waitMs <= 7_200_000, `${sleep.value.waitMs} ms`);
    const begun = records(run).at(-1);
    assert.deepEqual([begun?.step?.path, begun?.step?.status], ['pause', StepStatus.WAITING]);
    const other = node.grant({ versionId: node.publish(ONCE) });
    (await started.request('pay')).answer({});
    await until('the place was free', () => other.ended);
  });

  it('is over when the run comes back after its time', async () => {
    await using started = await TestWorker.start(node);
    const versionId = node.publish(PAUSE);
    const first = node.grant({ versionId });
    (await started.request('before')).answer({ n: 1 });
    await until('it sleeps', () => first.ended);
    started.clock.forward(7_200_000);
    const finishedSteps = records(first).map(({ step, outJson }) => ({
      $typeName: 'methods.worker.v1.FinishedStep' as const,
      path: step?.path ?? '',
      status: step?.status ?? StepStatus.UNSPECIFIED,
      outJson,
      outWithheld: false,
    }));
    const again = node.grant({ versionId, finishedSteps });
    (await started.request('after')).answer({ n: 2 });
    await until('it has ended', () => again.ended);
    const end = again.recorded.at(-1);
    assert.equal(end?.case === 'finish' && end.value.resultJson, '{"n":2}');
  });
});

describe('a step that must not run twice', () => {
  it('is acknowledged as begun before it acts, and fails the run when its worker was lost', async () => {
    await using started = await TestWorker.start(node);
    const versionId = node.publish(ONCE);
    node.acknowledges = false;
    const run = node.grant({ versionId });
    await until('its beginning is told', () => run.recorded.length === 1);
    assert.equal(records(run)[0]?.step?.status, StepStatus.RUNNING);
    assert.equal(started.requests.length, 0, 'nothing was sent yet');
    node.acknowledges = true;
    node.acknowledge();
    await started.request('pay');
    const path = { $typeName: 'methods.worker.v1.FinishedStep' as const, path: 'pay', outJson: '', outWithheld: false };
    const again = node.grant({ versionId, finishedSteps: [{ ...path, status: StepStatus.RUNNING }] });
    await until('it has failed', () => again.ended);
    const end = again.recorded.at(-1);
    assert.ok(end?.case === 'finish');
    assert.equal(end.value.error?.kind, 'interrupted');
    assert.equal(started.requests.length, 0, 'it did not pay again');
  });
});
