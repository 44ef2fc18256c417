import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { StepStatus } from '@methods/proto/run/v1/run_pb';
import { until } from '@methods/test/harness/until';
import { requestSteps } from './test-methods.fixture.ts';
import { TestWorker } from './test-worker.fixture.ts';
import { type TestRun, WorkerNode } from './worker-node.fixture.ts';

let node: WorkerNode;
beforeEach(async () => {
  node = await WorkerNode.start();
});
afterEach(() => node.stop());

function records({ recorded }: TestRun): string[] {
  return recorded.map((report) => {
    if (report.case !== 'stepRecord') return report.case;
    const { step } = report.value;
    return `${step?.path} ${StepStatus[step?.status ?? 0]?.toLowerCase()}`;
  });
}

describe('a slow step', () => {
  it('is reported while it runs, with its start and without an end; a step that ends earlier is not', async () => {
    await using started = await TestWorker.start(node, { startsToldAfterMs: 5_000 });
    const run = node.grant({ versionId: node.publish(requestSteps('first', 'second')) });
    (await started.request('first')).answer({ n: 1 });
    const second = await started.request('second');
    const beforeMs = started.clock.wallMs();
    started.clock.forward(5_001);
    await until('its start is told', () => run.recorded.length === 2);
    second.answer({ n: 2 });
    await until('the run has ended', () => run.ended);
    assert.deepEqual(records(run), ['first succeeded', 'second running', 'second succeeded', 'finish']);
    const [, told] = run.recorded;
    assert.ok(told?.case === 'stepRecord');
    assert.deepEqual([told.value.step?.finishedAtMs, told.value.outJson], [0, '']);
    assert.ok((told.value.step?.startedAtMs ?? 0) <= beforeMs);
  });

  it('is reported at once when the run was lost before, so that a step that crashes its worker has a name', async () => {
    await using started = await TestWorker.start(node);
    const run = node.grant({ versionId: node.publish(requestSteps('first')), attempt: 2 });
    const first = await started.request('first');
    await until('its start is told', () => run.recorded.length === 1);
    first.answer({ n: 1 });
    await until('the run has ended', () => run.ended);
    assert.deepEqual(records(run), ['first running', 'first succeeded', 'finish']);
  });
});
