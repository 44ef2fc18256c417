import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { until } from '@methods/test/harness/until';
import { requestSteps } from './test-methods.fixture.ts';
import { TestWorker } from './test-worker.fixture.ts';
import { WorkerNode } from './worker-node.fixture.ts';

const HEARTBEAT_MS = 15_000;

let node: WorkerNode;
before(async () => {
  node = await WorkerNode.start({ heartbeatMs: HEARTBEAT_MS });
});
after(() => node.stop());

describe('a worker', () => {
  it('announces its id, its methods and its places', async () => {
    await using started = await TestWorker.start(node, { concurrency: 3 });
    const { hello, authorization, free } = node.stream;
    assert.equal(authorization, 'Bearer sk_test');
    assert.equal(hello?.workerId, started.worker.id);
    assert.deepEqual(hello?.methods, ['wf_test']);
    assert.equal(hello?.slots, 3);
    assert.equal(free, 3);
  });

  it('never runs more runs at once than it has places, and uses them all', async () => {
    await using started = await TestWorker.start(node, { concurrency: 2 });
    const versionId = node.publish(requestSteps('only'));
    const runs = Array.from({ length: 9 }, () => node.grant({ versionId }));
    for (let i = 0; i < runs.length; i++) {
      const left = runs.length - i;
      await until('every place is used', () => started.sideBySide === Math.min(2, left));
      (await started.request('only')).answer({ n: i });
    }
    await until('all runs have ended', () => runs.every(({ ended }) => ended));
    assert.equal(started.sideBySideMax, 2);
  });

  it('frees the place of an ended run before the end is acknowledged', async () => {
    await using started = await TestWorker.start(node, { concurrency: 1 });
    const versionId = node.publish(requestSteps('only'));
    node.acknowledges = false;
    node.grant({ versionId });
    const next = node.grant({ versionId });
    (await started.request('only')).answer({ n: 1 });
    (await started.request('only')).answer({ n: 2 });
    node.acknowledge();
    await until('the next run has ended', () => next.ended);
  });

  it('names all runs it holds in one heartbeat', async () => {
    await using started = await TestWorker.start(node);
    const versionId = node.publish(requestSteps('only'));
    const runs = [node.grant({ versionId }), node.grant({ versionId })];
    await until('both steps have begun', () => started.sideBySide === 2);
    const before = node.stream.heartbeats.length;
    started.clock.forward(HEARTBEAT_MS);
    const held = await until('a heartbeat came', () => node.stream.heartbeats[before]);
    assert.deepEqual(held.sort(), runs.map(({ runId }) => runId).sort());
    for (const request of started.requests.splice(0)) request.answer({ n: 1 });
    await until('both have ended', () => runs.every(({ ended }) => ended));
    await until('a heartbeat names none', () => {
      started.clock.forward(HEARTBEAT_MS);
      return node.stream.heartbeats.at(-1)?.length === 0;
    });
  });

  it('sends heartbeats even while short runs follow each other', async () => {
    await using started = await TestWorker.start(node, { concurrency: 1 });
    const versionId = node.publish(requestSteps('only'));
    const before = node.stream.heartbeats.length;
    for (let n = 0; n < 40; n++) {
      const run = node.grant({ versionId });
      (await started.request('only')).answer({ n });
      await until('it has ended', () => run.ended);
      started.clock.forward(400);
    }
    await until('a heartbeat has come', () => node.stream.heartbeats.length > before);
  });

  it('wakes only for its heartbeats while it holds no run', async () => {
    await using started = await TestWorker.start(node, { concurrency: 1 });
    const versionId = node.publish(requestSteps('only'));
    const run = node.grant({ versionId });
    (await started.request('only')).answer({ n: 1 });
    await until('it has ended', () => run.ended);
    await until('the worker knows it', () => {
      started.clock.forward(HEARTBEAT_MS);
      return node.stream.heartbeats.at(-1)?.length === 0;
    });
    const before = started.clock.fired;
    for (let n = 0; n < 60; n++) started.clock.forward(1_000);
    assert.ok(started.clock.fired - before < 20, `${started.clock.fired - before} timers in a minute`);
  });

  it('ends the step of a cancelled run, names the run once more and records nothing', async () => {
    await using started = await TestWorker.start(node, { concurrency: 1 });
    const versionId = node.publish(requestSteps('only'));
    const run = node.grant({ versionId });
    const { signal } = await started.request('only');
    const { runId, token } = run;
    const before = node.stream.heartbeats.length;
    node.stream.send({ item: { case: 'cancel', value: { runId, token } } });
    await until('the step has ended', () => signal.aborted);
    await until('a heartbeat has come', () => node.stream.heartbeats.length > before);
    assert.deepEqual(node.stream.heartbeats.slice(before), [[runId]]);
    // Its place is free again.
    const next = node.grant({ versionId });
    (await started.request('only')).answer({ n: 1 });
    await until('the next run has ended', () => next.ended);
    assert.deepEqual(run.recorded, []);
  });

  it('names a run that it has stopped in one more heartbeat when its next owner asks', async () => {
    await using started = await TestWorker.start(node);
    const { runId, token } = node.grant({ versionId: node.publish(requestSteps('only')) });
    const { signal } = await started.request('only');
    const cancel = () => node.stream.send({ item: { case: 'cancel', value: { runId, token } } });
    const named = () => node.stream.heartbeats.filter((runs) => runs.includes(runId)).length;
    cancel();
    await until('the step has ended', () => signal.aborted);
    await until('a heartbeat names it', () => named() === 1);
    for (const count of [2, 3]) {
      cancel();
      await until('it is named again', () => {
        if (named() < count) started.clock.forward(500);
        return named() === count;
      });
    }
    await until('heartbeats do not name it', () => {
      started.clock.forward(5_000);
      return node.stream.heartbeats.at(-1)?.length === 0;
    });
    assert.equal(named(), 3);
  });

  it('ignores a cancel that names another attempt', async () => {
    await using started = await TestWorker.start(node);
    const run = node.grant({ versionId: node.publish(requestSteps('only')) });
    const request = await started.request('only');
    node.stream.send({ item: { case: 'cancel', value: { runId: run.runId, token: 'another' } } });
    request.answer({ n: 1 });
    await until('the run has ended', () => run.ended);
    assert.equal(run.recorded.at(-1)?.case, 'finish');
  });

  it('drops runs that a heartbeat reply lists as stale', async () => {
    await using started = await TestWorker.start(node);
    const { runId, token } = node.grant({ versionId: node.publish(requestSteps('only')) });
    const { signal } = await started.request('only');
    node.stream.send({ item: { case: 'heartbeatReply', value: { stale: [{ runId, token }] } } });
    await until('the step has ended', () => signal.aborted);
  });

  it('replaces the attempt it holds by a new attempt of the same run', async () => {
    await using started = await TestWorker.start(node);
    const versionId = node.publish(requestSteps('only'));
    const old = node.grant({ versionId });
    const { signal } = await started.request('only');
    const run = node.grant({ versionId, runId: old.runId, attempt: 2 });
    (await started.request('only')).answer({ n: 2 });
    await until('the new attempt has ended', () => run.ended);
    assert.ok(signal.aborted);
    assert.deepEqual(old.recorded, []);
  });

  it('drops its runs when it has received nothing for a whole lease', async () => {
    await using started = await TestWorker.start(node);
    const run = node.grant({ versionId: node.publish(requestSteps('only')) });
    const { signal } = await started.request('only');
    started.clock.forward(61_000);
    await until('the step has ended', () => signal.aborted);
    assert.deepEqual(run.recorded, []);
  });
});
