import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { ServiceError } from '@methods/errors/service-error';
import { until } from '@methods/test/harness/until';
import { fileSkipFileSkip, requestSteps } from './test-methods.fixture.ts';
import { TestWorker } from './test-worker.fixture.ts';
import { type TestRun, WorkerNode } from './worker-node.fixture.ts';

let node: WorkerNode;
beforeEach(async () => {
  node = await WorkerNode.start();
});
afterEach(() => node.stop());

function kinds({ recorded }: TestRun): string[] {
  return recorded.map(({ case: kind }) => kind);
}

describe('a worker that stops', () => {
  it('waits for the present step, gives the run back with it, and ends', async () => {
    await using started = await TestWorker.start(node);
    const run = node.grant({ versionId: node.publish(requestSteps('first', 'second')) });
    const request = await started.request('first');
    const stopped = started.stop();
    await until('the worker takes no more', () => node.stream.leaving);
    request.answer({ n: 1 });
    await stopped;
    assert.deepEqual(node.story, ['step first begins', 'record first', 'giveBack']);
    assert.deepEqual(
      run.recorded.map(({ value }) => [value.seq, value.token]),
      [1, 2].map((seq) => [seq, run.token]),
    );
    assert.deepEqual(readdirSync(started.dataDir), []);
  });

  it('has kept everything of its steps in one folder, which the next start removes if it was killed', async () => {
    await using started = await TestWorker.start(node);
    assert.match(readdirSync(started.dataDir).join(), /^runs-\w+$/);
  });

  it('stores the files of the step before it gives the run back', async () => {
    await using started = await TestWorker.start(node);
    node.grant({ versionId: node.publish(fileSkipFileSkip) });
    const request = await started.request('one');
    const stopped = started.stop();
    await until('the worker takes no more', () => node.stream.leaving);
    request.answer('one', 'text/plain');
    await stopped;
    assert.deepEqual(node.story, ['step one begins', 'folder stored', 'record one', 'record never', 'giveBack']);
  });

  it('reports the end of a run whose last step ends in time', async () => {
    await using started = await TestWorker.start(node);
    const run = node.grant({ versionId: node.publish(requestSteps('only')) });
    const request = await started.request('only');
    const stopped = started.stop();
    await until('the worker takes no more', () => node.stream.leaving);
    request.answer({ n: 1 });
    await stopped;
    assert.deepEqual(kinds(run), ['stepRecord', 'finish']);
  });

  it('interrupts a step that takes longer than the drain, and gives its run back', async () => {
    await using started = await TestWorker.start(node, { drainMs: 20_000 });
    const run = node.grant({ versionId: node.publish(requestSteps('first')) });
    const { signal } = await started.request('first');
    const stopped = started.stop();
    await until('the worker takes no more', () => node.stream.leaving);
    assert.equal(signal.aborted, false);
    started.clock.forward(20_000);
    await stopped;
    assert.ok(signal.aborted);
    assert.deepEqual(kinds(run), ['giveBack']);
  });

  it('gives back a run that waits for the server', async () => {
    await using started = await TestWorker.start(node, { drainMs: 20_000 });
    let calls = 0;
    node.beforeCall = () => {
      calls++;
      throw new ServiceError('unavailable');
    };
    const run = node.grant({ versionId: node.publish(requestSteps('first')) });
    await until('the worker asks for the version', () => calls > 0);
    const stopped = started.stop();
    started.clock.forward(20_000);
    await stopped;
    assert.deepEqual(kinds(run), ['giveBack']);
  });

  it('gives back a grant that was on its way', async () => {
    await using started = await TestWorker.start(node);
    const held = node.grant({ versionId: node.publish(requestSteps('first')) });
    const request = await started.request('first');
    const { stream } = node;
    const stopped = started.stop();
    await until('the worker takes no more', () => stream.leaving);
    // As far as the worker can see, sent before the node read its leave.
    stream.leaving = false;
    const late = node.grant({ versionId: node.publish(requestSteps('second')) });
    await until('the late one is back', () => late.ended);
    request.answer({ n: 1 });
    await stopped;
    assert.deepEqual(kinds(late), ['giveBack']);
    assert.deepEqual(kinds(held), ['stepRecord', 'finish']);
  });

  it('announces no places again', async () => {
    await using started = await TestWorker.start(node, { concurrency: 1 });
    const run = node.grant({ versionId: node.publish(requestSteps('first')) });
    const request = await started.request('first');
    const stopped = started.stop();
    await until('the worker takes no more', () => node.stream.leaving);
    request.answer({ n: 1 });
    await stopped;
    assert.ok(run.ended);
    assert.equal(node.stream.free, 0);
  });

  it('ends at once when it holds nothing, also without a node', async () => {
    await using idle = await TestWorker.start(node);
    await idle.stop();
    await using alone = new TestWorker(node, { addresses: ['127.0.0.1:1'] });
    await alone.worker.start();
    await alone.stop();
  });
});
