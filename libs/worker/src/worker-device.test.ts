import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, it, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { type FolderId, newId } from '@methods/base/ids';
import { ContentKey } from '@methods/content/device/content-key';
import { openStream, sealStream } from '@methods/content/device/sealed-stream';
import { StepStatus } from '@methods/proto/run/v1/run_pb';
import { until } from '@methods/test/harness/until';
import { fileAskUpload, requestSteps } from './test-methods.fixture.ts';
import { TestWorker } from './test-worker.fixture.ts';
import { type TestRun, WorkerNode } from './worker-node.fixture.ts';

const PART = 'A'.repeat(43);
const CONTENT_ID = '0123456789abcdef'.repeat(2);
const content = new ContentKey(PART, 'org_1');
const key = content.ofRun(CONTENT_ID);
const DEVICE = { contentId: CONTENT_ID, deviceKeyId: 'key_1' as const };
const INPUTS = { inputsJson: sealed('inputs', '', {}) };

const READS = `format: method/2
name: reads-a-file
inputs: { a: file, more?: list<file> }
steps:
  - name: read
    in: [inputs.a]
    shell: |
      echo "read $a"
      cat "$a"
    stdout: text
    out: { text: string }
result: { text: =steps.read.text, name: =inputs.a.name, type: =inputs.a.media_type, more: "=inputs.more != null" }
`;

function sealed(kind: 'inputs' | 'out' | 'answer', step: string, value: unknown): string {
  return JSON.stringify(key.sealJson({ kind, step }, value));
}

let node: WorkerNode;
beforeEach(async () => {
  node = await WorkerNode.start({ key: { orgId: 'org_1', keyId: 'key_1' } });
});
afterEach(() => node.stop());

const started = (results: unknown[] = []) =>
  TestWorker.start(node, { contentPart: PART, onResult: (_grant, result) => results.push(result) });

async function sealedFile(plain: string, more: object = {}) {
  const file = content.ofFile(`upload-${plain}`);
  const fileId = newId('file');
  node.files.set(fileId, [await buffer(sealStream(file.key, 'file', [Buffer.from(plain)], file))]);
  const sha256 = createHash('sha256').update(plain).digest('hex');
  const facts = { name: 'Brief ü.txt', bytes: plain.length, sha256, media_type: 'text/plain' };
  return { file_id: fileId, content_id: file.contentId, ...facts, ...more };
}

function endOf({ recorded }: TestRun) {
  const end = recorded.at(-1);
  assert.ok(end?.case === 'finish');
  return end.value;
}

/** The message that only the holder of the key reads. */
function messageOf(run: TestRun): string {
  const { error } = endOf(run);
  return String(key.openJson({ kind: 'text', step: error?.step ?? '' }, JSON.parse(error?.message ?? '')));
}

test('a worker with a content key begins its second stream, which names it, without a lost connection', async () => {
  await using worker = await started();
  assert.deepEqual(
    node.streams.map(({ hello }) => hello?.deviceKeyIds),
    [[], ['key_1']],
  );
  assert.deepEqual(
    worker.log.filter((line) => line.includes('not connected')),
    [],
  );
});

describe('the files of a run in device mode', () => {
  it('leave the worker sealed, with their names, and are restored from what was sealed', async () => {
    const versionId = node.publish(fileAskUpload);
    let run: TestRun;
    {
      await using first = await started();
      run = node.grant({ versionId, ...DEVICE, ...INPUTS });
      (await first.request('download')).answer('bytes of the file', 'text/plain');
      await until('the run asks', () => run.ended);
    }
    const [[folderId = '', archive = Buffer.alloc(0)] = []] = node.folders;
    const plain = await buffer(openStream(key, 'folder', [archive]));
    assert.ok(gunzipSync(plain).includes('steps/download/files/'));
    const sent = JSON.stringify(run.recorded) + archive.toString('latin1');
    for (const secret of ['bytes of the file', 'steps/download', plain.toString('latin1', 10, 30)]) {
      assert.ok(!sent.includes(secret), secret);
    }
    const [record] = run.recorded;
    assert.ok(record?.case === 'stepRecord');
    const finishedSteps = [{ path: 'download', status: StepStatus.SUCCEEDED, outJson: record.value.outJson }];
    const answerJson = sealed('answer', 'q_1 decide', { yes: true });
    const answer = { questionId: 'q_1' as const, step: 'decide', answerJson };
    const again = { versionId, ...DEVICE, ...INPUTS, finishedSteps, answer };
    await using second = await started();
    const next = node.grant({ ...again, folderId: folderId as FolderId });
    const upload = await second.request('upload');
    assert.equal(await upload.body(), 'bytes of the file');
    upload.answer({});
    await until('the run has ended', () => next.ended);

    // What a service that others control could give back in its place.
    const other = content.ofRun('f'.repeat(32));
    const parts: Buffer[] = [];
    for await (const part of sealStream(key, 'folder', [plain])) parts.push(part);
    const [salt = archive, only = archive] = parts;
    const wrong = [
      archive.subarray(0, -1),
      salt,
      Buffer.concat([salt, only, only]),
      plain,
      await buffer(sealStream(other, 'folder', [plain])),
      await buffer(sealStream(key, 'file', [plain])),
    ];
    for (const [n, damaged] of wrong.entries()) {
      const id = newId('fld');
      node.folders.set(id, damaged);
      const refused = node.grant({ ...again, folderId: id });
      await until('the run has failed', () => refused.ended);
      assert.match(messageOf(refused), /is damaged, or belongs to another run/, `case ${n}`);
      assert.equal(refused.recorded.length, 1, 'no step has run');
    }
  });

  it('that inputs name are opened on the worker, under their own names', async () => {
    const results: unknown[] = [];
    await using _worker = await started(results);
    const a = await sealedFile('content of the file');
    const inputs = { a, more: [await sealedFile('another'), a] };
    const run = node.grant({ versionId: node.publish(READS), ...DEVICE, inputsJson: sealed('inputs', '', inputs) });
    await until('the run has ended', () => run.ended);
    assert.equal(endOf(run).error, undefined);
    assert.equal(endOf(run).resultJson, '');
    await until('the result is here', () => results.length === 1);
    const { text: read, ...facts } = results[0] as { text: string };
    assert.deepEqual(facts, { name: 'Brief ü.txt', type: 'text/plain', more: true });
    assert.match(read, /^read .*\/Brief ü\.txt\ncontent of the file$/);
    assert.ok(!JSON.stringify(run.recorded).includes('Brief'));
  });

  it('that are changed, swapped or not sealed fail the run, and none of their bytes is read', async () => {
    await using _worker = await started();
    const [one, two] = [await sealedFile('one'), await sealedFile('two')];
    const bytes = Buffer.concat(node.files.get(one.file_id) ?? []);
    const changed = Buffer.from(bytes);
    changed[bytes.length - 20] = (changed[bytes.length - 20] ?? 0) ^ 1;
    const cases: readonly [a: object, stored: Buffer, message: RegExp][] = [
      [one, changed, /arrived damaged/],
      [one, bytes.subarray(0, -1), /arrived damaged/],
      [one, Buffer.concat([bytes, bytes.subarray(16)]), /arrived damaged/],
      [one, Buffer.from('one'), /arrived damaged/],
      [one, Buffer.concat(node.files.get(two.file_id) ?? []), /arrived damaged/],
      [{ ...one, content_id: two.content_id }, bytes, /arrived damaged/],
      [{ ...one, sha256: two.sha256 }, bytes, /arrived damaged/],
      [{ ...one, name: '../../passwd' }, bytes, /is not a file of the run/],
      [{ file_id: one.file_id }, bytes, /is not a file of the run/],
      [{ ...one, content_id: 'short' }, bytes, /do not fit the method: \/a/],
    ];
    const versionId = node.publish(READS);
    for (const [n, [a, stored, message]] of cases.entries()) {
      node.files.set(one.file_id, [stored]);
      const run = node.grant({ versionId, ...DEVICE, inputsJson: sealed('inputs', '', { a }) });
      await until('the run has failed', () => run.ended);
      assert.match(messageOf(run), message, `case ${n}`);
    }
  });
});

it('a result is shown when the owner recorded the end and died, and the next one refuses the run', async () => {
  const results: unknown[] = [];
  await using worker = await started(results);
  const run = node.grant({ versionId: node.publish(requestSteps('only')), ...DEVICE, ...INPUTS });
  node.acknowledges = false;
  (await worker.request('only')).answer({ n: 1 });
  await until('the end is recorded', () => run.ended);
  assert.deepEqual(results, []);
  const { runId, token } = run;
  const { reports } = node;
  const before = reports.length;
  node.forgetAcknowledgements();
  node.stream.send({ item: { case: 'refused', value: { runId, token, seq: 0, code: 'stale_attempt', message: '' } } });
  await until('the report is repeated', () => {
    worker.clock.forward(1_000);
    return reports.length > before;
  });
  await until('the result is there', () => results.length === 1);
});
