import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { FolderId, VersionId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { StepStatus } from '@methods/proto/run/v1/run_pb';
import { until } from '@methods/test/harness/until';
import { fileAskUpload, fileLast, fileSkipFileSkip } from './test-methods.fixture.ts';
import { TestWorker } from './test-worker.fixture.ts';
import { type TestRun, WorkerNode } from './worker-node.fixture.ts';

let node: WorkerNode;
beforeEach(async () => {
  node = await WorkerNode.start();
});
afterEach(() => node.stop());

/** The folder that each recorded report names. */
function foldersNamed({ recorded }: TestRun): string[] {
  return recorded.map(({ value }) => ('folderId' in value ? value.folderId : ''));
}

/** The next grant of a run that asked, as its owner builds it from the records. */
function answered(versionId: VersionId, before: TestRun) {
  const finishedSteps = before.recorded.flatMap((report) =>
    report.case === 'stepRecord'
      ? [{ path: report.value.step?.path ?? '', status: StepStatus.SUCCEEDED, outJson: report.value.outJson }]
      : [],
  );
  const answer = { questionId: 'q_1' as const, step: 'decide', answerJson: '{"yes":true}' };
  const folderId = foldersNamed(before).at(-1) ?? '';
  return node.grant({ versionId, runId: before.runId, finishedSteps, answer, folderId: folderId as FolderId });
}

describe('the files of a run', () => {
  for (const content of ['bytes of the file', '']) {
    it(`are stored before the question and restored on another worker (${content.length} bytes)`, async () => {
      const versionId = node.publish(fileAskUpload);
      let run: TestRun;
      {
        await using first = await TestWorker.start(node);
        run = node.grant({ versionId });
        (await first.request('download')).answer(content, 'text/plain');
        await until('the run asks', () => run.ended);
      }
      assert.deepEqual(node.story, ['step download begins', 'folder stored', 'record download', 'ask']);
      const [folderId] = node.folders.keys();
      assert.deepEqual(foldersNamed(run), [folderId, folderId]);

      await using second = await TestWorker.start(node);
      const next = answered(versionId, run);
      const upload = await second.request('upload');
      assert.equal(await upload.body(), content);
      upload.answer({});
      await until('the run has ended', () => next.ended);
      // There was nothing new to store.
      assert.equal(node.folders.size, 1);
    });
  }

  it('are stored before the record that names them, once, and records keep their order', async () => {
    await using started = await TestWorker.start(node);
    const run = node.grant({ versionId: node.publish(fileSkipFileSkip) });
    (await started.request('one')).answer('one', 'text/plain');
    (await started.request('two')).answer('two', 'text/plain');
    await until('the run has ended', () => run.ended);
    assert.deepEqual(node.story, [
      ...['step one begins', 'folder stored', 'record one', 'record never'],
      ...['step two begins', 'folder stored', 'record two', 'record neither', 'record last', 'finish'],
    ]);
    const [first, second] = node.folders.keys();
    assert.deepEqual(foldersNamed(run), [first, first, second, second, second, '']);
  });

  it('are stored in chunks before the record of the last step', async () => {
    await using started = await TestWorker.start(node);
    const run = node.grant({ versionId: node.publish(fileLast) });
    (await started.request('one')).answer(randomBytes(300_000), 'application/octet-stream');
    await until('the run has ended', () => run.ended);
    assert.deepEqual(node.story, ['step one begins', 'folder stored', 'record one', 'finish']);
    const [[folderId, archive] = []] = node.folders;
    assert.ok((archive?.length ?? 0) > 300_000);
    assert.deepEqual(foldersNamed(run), [folderId, '']);
  });

  it('wait for an unavailable server, and so does their record', async () => {
    await using started = await TestWorker.start(node);
    let calls = 0;
    node.beforeCall = (name) => {
      if (name === 'putRunFolder' && ++calls < 3) throw new ServiceError('unavailable');
    };
    const run = node.grant({ versionId: node.publish(fileAskUpload) });
    (await started.request('download')).answer('file', 'text/plain');
    await until('the run asks', () => {
      started.clock.forward(1_000);
      return run.ended;
    });
    assert.equal(calls, 3);
    assert.deepEqual(node.story, ['step download begins', 'folder stored', 'record download', 'ask']);
  });

  it('fail the run when the server refuses them', async () => {
    await using started = await TestWorker.start(node);
    node.beforeCall = (name) => {
      if (name === 'putRunFolder') throw new ServiceError('too_large', 'The run folder exceeds 256 MiB.');
    };
    const run = node.grant({ versionId: node.publish(fileSkipFileSkip) });
    (await started.request('one')).answer('one', 'text/plain');
    await until('the run has ended', () => run.ended);
    assert.deepEqual(node.story, ['step one begins', 'finish']);
    const [end] = run.recorded;
    assert.ok(end?.case === 'finish');
    assert.equal(end.value.error?.code, 'step_failed');
    assert.equal(end.value.error?.message, 'The run folder exceeds 256 MiB.');
  });

  it('are not stored for a stale attempt', async () => {
    await using started = await TestWorker.start(node);
    const run = node.grant({ versionId: node.publish(fileAskUpload) });
    const request = await started.request('download');
    node.runs.set(run.runId, { ...run, token: 'another attempt' });
    request.answer('file', 'text/plain');
    await until('the place is free again', () => node.stream.free === 2);
    assert.equal(node.folders.size, 0);
    assert.equal(node.reports.length, 0);
  });

  it('do not delay the end of a cancelled run', async () => {
    await using started = await TestWorker.start(node);
    let letGo = () => {};
    const stuck = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    let called = false;
    node.beforeCall = (name) => {
      if (name !== 'putRunFolder') return;
      called = true;
      return stuck;
    };
    const { runId, token } = node.grant({ versionId: node.publish(fileAskUpload) });
    (await started.request('download')).answer('file', 'text/plain');
    await until('the folder is on its way', () => called);
    node.stream.send({ item: { case: 'cancel', value: { runId, token } } });
    await until('the place is free again', () => node.stream.free === 2);
    letGo();
  });

  it('are removed from the disk with their run', async () => {
    await using started = await TestWorker.start(node);
    const run = node.grant({ versionId: node.publish(fileSkipFileSkip) });
    (await started.request('one')).answer('one', 'text/plain');
    const request = await started.request('two');
    const [own = ''] = readdirSync(started.dataDir);
    const folders = () => readdirSync(`${started.dataDir}/${own}`).filter((name) => name.startsWith(run.runId));
    assert.equal(folders().length, 1);
    request.answer('two', 'text/plain');
    await until('the run has ended', () => run.ended);
    await until('its folder is gone', () => folders().length === 0);
    await started.stop();
    assert.deepEqual(readdirSync(started.dataDir), []);
  });
});
