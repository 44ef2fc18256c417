import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { ServiceError } from '@methods/errors/service-error';
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

async function failure(run: TestRun) {
  await until('the run has ended', () => run.ended);
  const last = run.recorded.at(-1);
  assert.ok(last?.case === 'finish' && last.value.error !== undefined);
  const { code, kind, message } = last.value.error;
  return { code, kind, message };
}

const withSecret = `format: method/2
name: with-secret
secrets: [API_TOKEN]
steps:
  - name: only
    http:
      get: http://steps.test/only
      auth: { bearer: API_TOKEN }
    out: { text: string }
result: { text: =steps.only.text }
`;

describe('a grant that cannot be run', () => {
  it('fails when the version does not compile here', async () => {
    await using started = await TestWorker.start(node);
    const { code, kind, message } = await failure(node.grant({ versionId: node.publish('format: method/9\n') }));
    assert.deepEqual({ code, kind }, { code: 'step_failed', kind: 'internal' });
    assert.match(message, /^This worker cannot run the version: [A-Z]\d{3}\.$/);
    assert.equal(started.sideBySideMax, 0);
  });

  it('fails when the source does not match its hash', async () => {
    await using started = await TestWorker.start(node);
    const versionId = node.publish(requestSteps('only'), { sha256: 'a'.repeat(64) });
    const { code, message } = await failure(node.grant({ versionId }));
    assert.deepEqual([code, message], ['step_failed', 'The source does not match its hash.']);
    assert.equal(started.sideBySideMax, 0);
  });

  it('fails when the version does not exist', async () => {
    await using started = await TestWorker.start(node);
    const { code, message } = await failure(node.grant({ versionId: 'ver_none' }));
    assert.deepEqual([code, message], ['step_failed', 'There is no such version.']);
    assert.equal(started.sideBySideMax, 0);
  });

  it('fails when a declared secret is missing or too short to mask', async () => {
    for (const [secrets, code] of [
      [new Map(), 'secret_missing'],
      [new Map([['API_TOKEN', 'short']]), 'secret_too_short'],
    ] as const) {
      await using started = await TestWorker.start(node, { secrets });
      const failed = await failure(node.grant({ versionId: node.publish(withSecret) }));
      assert.deepEqual([failed.code, failed.kind], [code, 'secret']);
      assert.equal(started.sideBySideMax, 0);
    }
  });

  it('waits while the registry is unavailable, and while the key is not accepted', async () => {
    await using started = await TestWorker.start(node);
    const codes = ['unavailable', 'unauthorized'] as const;
    let calls = 0;
    node.beforeCall = () => {
      const code = codes[calls++];
      if (code !== undefined) throw new ServiceError(code);
    };
    const run = node.grant({ versionId: node.publish(requestSteps('only')) });
    await until('the step begins', () => {
      started.clock.forward(1_000);
      return started.sideBySide === 1;
    });
    (await started.request('only')).answer({ n: 1 });
    await until('the run has ended', () => run.ended);
    assert.equal(calls, 3);
  });

  it('is left to its lease, as an attempt that counts, when its values cannot be read', async () => {
    await using started = await TestWorker.start(node);
    const run = node.grant({ versionId: node.publish(requestSteps('only')), inputsJson: 'private but not JSON' });
    await until('the run is left', () => started.log.some((line) => line.includes('left to its lease')));
    await until('the place is free again', () => node.stream.free === 2);
    await until('the grant is accepted', () => node.stream.accepted.includes(run.runId));
    assert.deepEqual(run.recorded, []);
    assert.ok(!started.log.some((line) => line.includes('private')), started.log.join(''));
  });
});

describe('a version', () => {
  it('is fetched once for all its runs', async () => {
    await using started = await TestWorker.start(node, { concurrency: 3 });
    let calls = 0;
    node.beforeCall = () => void calls++;
    const versionId = node.publish(requestSteps('only'));
    const runs = [1, 2, 3].map(() => node.grant({ versionId }));
    for (let i = 0; i < runs.length; i++) (await started.request('only')).answer({ n: 1 });
    await until('all have ended', () => runs.every(({ ended }) => ended));
    assert.equal(calls, 1);
  });

  it('whose fetch failed is fetched again for the next run', async () => {
    await using started = await TestWorker.start(node);
    const versionId = node.publish(requestSteps('only'));
    node.beforeCall = () => {
      throw new ServiceError('not_found');
    };
    await failure(node.grant({ versionId }));
    node.beforeCall = () => {};
    const run = node.grant({ versionId });
    (await started.request('only')).answer({ n: 1 });
    await until('the run has ended', () => run.ended);
  });
});

describe('the log of a worker', () => {
  it('holds no content of runs', async () => {
    const content = 'very private value';
    await using started = await TestWorker.start(node, { secrets: new Map([['API_TOKEN', content]]) });
    const inputsJson = JSON.stringify({ any: content });
    const finishedSteps = [{ path: 'gone', status: StepStatus.FAILED, outJson: JSON.stringify(content) }];
    const versionId = node.publish(withSecret);
    const good = node.grant({ versionId, inputsJson });
    (await started.request('only')).answer({ text: 'private too' });
    const bad = node.grant({ versionId, inputsJson, finishedSteps });
    (await started.request('only')).answer({ text: content });
    node.refusal = ({ value }) => (value.runId === bad.runId ? 'stale_attempt' : null);
    await until('the good one has ended', () => good.ended);
    const failing = node.grant({ versionId, inputsJson });
    (await started.request('only')).answer('private and no JSON');
    await until('the failing one has ended', () => failing.ended);
    await started.stop();
    const log = started.log.join('');
    assert.ok(log.includes(good.runId) && log.includes(bad.runId) && log.includes(failing.runId));
    assert.doesNotMatch(log, /private|sk_test/);
    for (const { token } of [good, bad, failing]) assert.ok(!log.includes(token));
  });
});
