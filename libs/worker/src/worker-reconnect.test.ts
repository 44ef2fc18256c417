import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { until } from '@methods/test/harness/until';
import { requestSteps } from './test-methods.fixture.ts';
import { TestWorker } from './test-worker.fixture.ts';
import { WorkerNode } from './worker-node.fixture.ts';

let node: WorkerNode;
beforeEach(async () => {
  node = await WorkerNode.start();
});
afterEach(() => node.stop());

/** Waits out the worker's pause before it dials again. */
function welcomedAgain(started: TestWorker, count: number) {
  return until('the worker is back', () => {
    if (!node.stream.open) started.clock.forward(1_000);
    return node.streams.length === count && node.stream.welcomed;
  });
}

describe('a worker whose stream was lost', () => {
  it('names the runs it holds, repeats unacknowledged reports once, and continues', async () => {
    await using started = await TestWorker.start(node);
    const run = node.grant({ versionId: node.publish(requestSteps('first', 'second')) });
    const idle = node.grant({ versionId: node.publish(requestSteps('other')) });
    const other = await started.request('other');
    node.acknowledges = false;
    (await started.request('first')).answer({ n: 1 });
    await until('the record is there', () => run.recorded.length === 1);
    node.forgetAcknowledgements();
    node.stream.cut();
    await welcomedAgain(started, 2);
    const held = [run, idle].map(({ runId, token }) => `${runId} ${token}`);
    const { hello } = node.stream;
    assert.equal(hello?.streamNumber, 2);
    assert.equal(hello?.workerId, node.streams[0]?.hello?.workerId);
    assert.deepEqual(hello?.held.map(({ runId, token }) => `${runId} ${token}`).sort(), held.sort());
    (await started.request('second')).answer({ n: 2 });
    other.answer({ n: 3 });
    await until('both runs have ended', () => run.ended && idle.ended);
    const ofRun = node.reports.filter(({ value }) => value.runId === run.runId);
    assert.deepEqual(
      ofRun.map(({ value }) => value.seq),
      [1, 1, 3],
    );
    assert.deepEqual(
      run.recorded.map(({ value }) => value.seq),
      [1, 2, 3],
    );
  });

  it('keeps a result that arrived meanwhile and reports it on the next stream', async () => {
    await using started = await TestWorker.start(node);
    const run = node.grant({ versionId: node.publish(requestSteps('only')) });
    const request = await started.request('only');
    const first = node.stream;
    first.cut();
    await until('the stream has ended', () => !first.open);
    request.answer({ n: 1 });
    await welcomedAgain(started, 2);
    await until('the run has ended', () => run.ended);
    assert.deepEqual([node.reports.length, run.recorded.length], [1, 2]);
  });

  it('announces no place twice when a run ends between hello and welcome', async () => {
    await using started = await TestWorker.start(node, { concurrency: 2 });
    const versionId = node.publish(requestSteps('only'));
    const runs = [node.grant({ versionId }), node.grant({ versionId })];
    const request = await started.request('only');
    await started.request('only');
    node.welcomes = false;
    node.stream.cut();
    await until('the worker says hello again', () => {
      if (!node.stream.open) started.clock.forward(1_000);
      return node.streams.length === 2 && node.stream.hello;
    });
    request.answer({ n: 1 });
    // The run ends within this turn of the event loop.
    await until('the step has ended', () => started.sideBySide === 1);
    await turn();
    node.welcomeNow();
    await until('the first run has ended', () => runs.some(({ ended }) => ended));
    assert.equal(node.stream.free, 1);
    for (let i = 0; i < 3; i++) node.grant({ versionId });
    await started.request('only');
    assert.equal(started.sideBySide, 2);
    assert.equal(started.sideBySideMax, 2);
  });

  it('moves to another node at once when its node announces its stop', async () => {
    const elsewhere = await WorkerNode.start();
    try {
      await using started = new TestWorker(node, { addresses: [node.address, elsewhere.address] });
      await started.worker.start();
      const [from, to] = await until('the worker is somewhere', () => {
        if (node.streams[0]?.welcomed) return [node, elsewhere];
        return elsewhere.streams[0]?.welcomed && [elsewhere, node];
      });
      from?.stream.send({ item: { case: 'drain', value: {} } });
      await until('the worker is at the other', () => to?.streams[0]?.welcomed);
      assert.equal(to?.stream.hello?.streamNumber, 2);
    } finally {
      await elsewhere.stop();
    }
  });
});
