import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { until } from '@methods/test/harness/until';
import { requestSteps } from './test-methods.fixture.ts';
import { TestWorker } from './test-worker.fixture.ts';
import { WorkerNode } from './worker-node.fixture.ts';

let node: WorkerNode;
before(async () => {
  node = await WorkerNode.start();
});
after(() => node.stop());

describe('a worker that rests', () => {
  it('gives back its runs after their present steps and what still arrives, and asks for nothing until it is woken', async () => {
    await using started = await TestWorker.start(node, { concurrency: 2 });
    const { places } = started.worker;
    const versionId = node.publish(requestSteps('first', 'second'));
    const held = node.grant({ versionId });
    const first = await started.request('first');
    places.rest();
    first.answer({ n: 1 });
    await until('the held run was given back', () => held.recorded.at(-1)?.case === 'giveBack');
    const late = node.grant({ versionId });
    await until('the late run was given back', () => late.recorded[0]?.case === 'giveBack');
    assert.equal(node.stream.free, 0);
    places.wake();
    await until('both places are announced', () => node.stream.free === 2);
    const next = node.grant({ versionId });
    (await started.request('first')).answer({ n: 1 });
    (await started.request('second')).answer({ n: 2 });
    await until('the run has ended', () => next.ended);
    assert.equal(node.streams.length, 1);
  });

  it('announces its places once after a stream that began while it rested', async () => {
    await using started = await TestWorker.start(node, { concurrency: 2 });
    started.worker.places.rest();
    const count = node.streams.length;
    started.worker.serve(['wf_test', 'wf_other']);
    await until('the next stream is welcomed', () => node.streams.length > count && node.stream.welcomed);
    assert.equal(node.stream.free, 0);
    started.worker.places.wake();
    await until('both places are announced', () => node.stream.free === 2);
  });
});

describe('a worker that gets another method', () => {
  it('begins another stream at once that names both, and continues its runs', async () => {
    await using started = await TestWorker.start(node);
    const run = node.grant({ versionId: node.publish(requestSteps('only')) });
    const request = await started.request('only');
    const count = node.streams.length;
    started.worker.serve(['wf_test', 'wf_other']);
    await until('the next stream is welcomed', () => node.streams.length > count && node.stream.welcomed);
    const { hello } = node.stream;
    assert.deepEqual(hello?.methods, ['wf_test', 'wf_other']);
    assert.deepEqual(
      hello?.held.map(({ runId }) => runId),
      [run.runId],
    );
    request.answer({ n: 1 });
    await until('the run has ended', () => run.ended);
    assert.deepEqual(
      run.recorded.map(({ case: kind }) => kind),
      ['stepRecord', 'finish'],
    );
  });
});
