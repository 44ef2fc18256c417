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

function calling(target: string): string {
  return `format: method/2
name: calling
steps:
  - name: other
    call: ${target}
    out: { n: integer }
result: { n: =steps.other.n }
`;
}

function records({ recorded }: TestRun) {
  return recorded.flatMap((item) => (item.case === 'stepRecord' ? [item.value] : []));
}

function resultOf({ recorded }: TestRun): string | undefined {
  const end = recorded.at(-1);
  return end?.case === 'finish' ? end.value.resultJson || end.value.error?.message : undefined;
}

describe('a call', () => {
  it('runs its bound version, also through nested calls', async () => {
    await using started = await TestWorker.start(node);
    const leaf = node.publish(requestSteps('old'));
    node.published.set('wf_leaf', node.publish(requestSteps('new')));
    const middle = node.publish(calling('wf_leaf'), { calls: { wf_leaf: leaf } });
    const run = node.grant({ versionId: node.publish(calling('wf_middle'), { calls: { wf_middle: middle } }) });
    (await started.request('old')).answer({ n: 3 });
    await until('it has ended', () => run.ended);
    assert.equal(resultOf(run), '{"n":3}');
    assert.deepEqual(
      records(run).map(({ step }) => step?.path),
      ['other/other/old', 'other/other', 'other'],
    );
  });

  it('of the published version keeps the version it began with', async () => {
    await using started = await TestWorker.start(node);
    const first = node.publish(requestSteps('first'));
    node.published.set('wf_leaf', first);
    const versionId = node.publish(calling('wf_leaf@published'));
    const run = node.grant({ versionId });
    await started.request('first');
    const [begun] = records(run);
    assert.deepEqual(
      [begun?.step?.path, begun?.step?.status, begun?.outJson],
      ['other', StepStatus.RUNNING, JSON.stringify({ version_id: first })],
    );
    // Its worker is lost, and another version is published before the run continues.
    node.published.set('wf_leaf', node.publish(requestSteps('second')));
    const again = node.grant({
      versionId,
      finishedSteps: [
        {
          $typeName: 'methods.worker.v1.FinishedStep',
          path: 'other',
          status: StepStatus.RUNNING,
          outJson: begun?.outJson ?? '',
          outWithheld: false,
        },
      ],
    });
    (await started.request('first')).answer({ n: 1 });
    await until('it has ended', () => again.ended);
    assert.equal(resultOf(again), '{"n":1}');
  });

  it('fails its run when it has no bound version, or when its target is missing', async () => {
    await using _started = await TestWorker.start(node);
    const unbound = node.grant({ versionId: node.publish(calling('wf_leaf')) });
    await until('it has ended', () => unbound.ended);
    assert.equal(resultOf(unbound), 'The call has no bound version');
    const gone = node.grant({ versionId: node.publish(calling('wf_leaf'), { calls: { wf_leaf: 'ver_gone' } }) });
    await until('it has ended', () => gone.ended);
    assert.equal(resultOf(gone), 'The called method is unavailable');
  });
});
