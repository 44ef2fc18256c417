// Device mode from end to end: a client and a worker with the same key, and a service between them that can read
// nothing.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { createServiceKey, parseBearerKey } from '@methods/auth/service-key';
import { systemClock } from '@methods/base/clock';
import type { ProductionId } from '@methods/base/ids';
import { Methods } from '@methods/client/index';
import { ContentKey } from '@methods/content/device/content-key';
import { silentLogger } from '@methods/logging/logger';
import { Worker } from '@methods/worker/worker';
import type { WorkerOptions } from '@methods/worker/worker-options';
import { tempFolder } from '../harness/temp-folder.ts';
import { TEST_DOER } from '../harness/test-doer.ts';
import { until } from '../harness/until.ts';
import { commonStack } from './common-stack.ts';
import type { Stack } from './stack.ts';

const CANARY = 'ord_canary5b21';

describe('device mode from end to end', () => {
  let stack: Stack;
  let method: string;
  let keeping: string;
  const workers: Worker[] = [];

  before(async () => {
    stack = await commonStack();
    method = stack.method('approve');
    keeping = stack.method('keep-private');
  });
  after(() => Promise.all(workers.map((worker) => worker.stop())));

  async function newKey() {
    const { key, authPart, authSha256 } = createServiceKey();
    const orgId = stack.ready.org_id;
    await stack.registry.createServiceKey({ orgId, name: 'device', authSha256, doer: TEST_DOER });
    const contentPart = parseBearerKey(key)?.contentPart ?? assert.fail();
    const client = new Methods({ apiKey: key, baseUrl: stack.ready.base_url, runData: 'device', worker: false });
    return { key, authPart, contentPart, client, api: stack.api.as(key) };
  }

  async function startWorker(options: Pick<WorkerOptions, 'authPart' | 'contentPart' | 'onResult'>): Promise<Worker> {
    const dataDir = tempFolder('device-worker');
    const worker = new Worker({
      addresses: [stack.ready.grpc_url],
      methods: [method, keeping] as ProductionId[],
      concurrency: 2,
      secrets: new Map(),
      dataDir,
      cacheDir: join(dataDir, 'environments'),
      sandbox: true,
      allowInstallScripts: false,
      path: process.env.PATH ?? '/usr/bin:/bin',
      fetch,
      clock: systemClock,
      logger: silentLogger,
      ...options,
    });
    workers.push(worker);
    await worker.start();
    return worker;
  }

  test('a run asks, is answered and ends, and its result stays with the worker', async () => {
    const { client, authPart, contentPart, api } = await newKey();
    const results: unknown[] = [];
    await startWorker({ authPart, contentPart, onResult: (_run, result) => results.push(result) });
    const asked: string[] = [];
    const run = await client.run({
      method,
      inputs: { order_id: CANARY, amount: 250 },
      onAsk: ({ question }) => {
        asked.push(JSON.stringify(question));
        return { decision: 'approve' };
      },
    });
    assert.equal(run.status, 'succeeded', JSON.stringify(run));
    assert.equal(asked.length, 1);
    assert.ok(asked[0]?.includes(CANARY), asked[0]);
    await until('the worker has its result', () => results.length === 1);
    const shown = (await api.request('GET', `/v1/runs/${run.run_id}`)).read<Record<string, unknown>>();
    assert.deepEqual([shown.result, shown.result_at], [undefined, 'worker']);
    assert.equal(JSON.stringify(shown).includes(CANARY), false);
  });

  test('inputs that do not fit fail the run, with a message that only the holder of the key reads', async () => {
    const { client, authPart, contentPart, api } = await newKey();
    await startWorker({ authPart, contentPart });
    const run = await client.run({ method, inputs: { order_id: 'ORD-1', amount: 250 } });
    assert.equal(run.status, 'failed');
    assert.match(run.error?.message ?? '', /The inputs do not fit the method: .*order_id/);
    const shown = (await api.request('GET', `/v1/runs/${run.run_id}`)).read<{ error: { message: string } }>();
    assert.doesNotMatch(JSON.stringify(shown.error), /order_id/);
  });

  test('an answer that does not fit is asked again by the worker, and only the worker can read it', async () => {
    const { client, key, authPart, contentPart, api } = await newKey();
    await startWorker({ authPart, contentPart });
    const { run_id: runId } = await client.start({ method, inputs: { order_id: CANARY, amount: 250 } });
    type Shown = { status: string; content_id: string; question?: { id: string; step: string } };
    const waiting = (other?: string) =>
      until('it asks', async () => {
        const shown = (await api.request('GET', `/v1/runs/${runId}`)).read<Shown>();
        return shown.question && shown.question.id !== other ? shown : null;
      });
    const first = await waiting();
    const question = first.question ?? assert.fail();
    const content = new ContentKey(parseBearerKey(key)?.contentPart ?? '', stack.ready.org_id);
    const misfit = { decision: 5 };
    const sealed = content
      .ofRun(first.content_id)
      .sealJson(
        { kind: 'answer', step: `${question.id} ${question.step}` },
        misfit,
        0,
        content.digestOfAnswer(question.id, misfit),
      );
    const body = { answer: sealed, question_id: question.id };
    assert.equal((await api.request('POST', `/v1/runs/${runId}/answer`, { body })).status, 200);
    const second = await waiting(question.id);
    assert.notEqual(second.question?.id, question.id);
    await client.runs.answer(runId, { decision: 'reject' });
    await until('it ends', async () => (await client.runs.get(runId)).status !== 'waiting');
  });

  test('files go sealed to the run and from it, under names that only holders of the key see', async () => {
    const { client, authPart, contentPart, api } = await newKey();
    const results: { file: { path: string } }[] = [];
    await startWorker({ authPart, contentPart, onResult: (_run, result) => results.push(result as never) });
    const content = Buffer.from(`letter of ${CANARY}`.repeat(20_000));
    const given = { name: `Brief ${CANARY}.txt`, mediaType: 'text/plain', idempotencyKey: `upload-${CANARY}` };
    const letter = await client.files.upload(content, given);
    const again = await client.files.upload(new Blob([content]), given);
    assert.deepEqual([again.file_id, again.content_id], [letter.file_id, letter.content_id], 'a repeat is recognized');
    assert.deepEqual([letter.bytes, letter.name, letter.media_type], [content.length, given.name, 'text/plain']);
    const other = client.files.upload(Buffer.from('another'), given);
    await assert.rejects(other, { name: 'ConflictError', code: 'idempotency_conflict' });

    // As another process would name it.
    const inputs = { word: CANARY, letter: JSON.parse(JSON.stringify(letter)) };
    const answer = { go: true, note: `fine ${CANARY}` };
    const run = await client.run({ method: keeping, inputs, onAsk: () => answer });
    assert.equal(run.status, 'succeeded', JSON.stringify(run));
    await until('the worker has its result', () => results.length === 1);
    const kept = `steps/keep/files/${CANARY} ${given.name}`;
    assert.equal(results[0]?.file.path, kept);

    const { files } = client.runs;
    assert.deepEqual(await files.list(run.run_id), [{ path: kept, bytes: content.length }]);
    const read = async (path: string) => buffer(await files.download(run.run_id, path));
    assert.ok((await read(kept)).equals(content));
    assert.ok((await read(`inputs/${letter.file_id}/${given.name}`)).equals(content));
    const archive = gunzipSync(await buffer(await files.archive(run.run_id)));
    assert.ok(archive.includes(`letter of ${CANARY}`));
    for (const path of [`inputs/${letter.file_id}/file`, 'inputs/file_x/a', 'steps/keep/files/none']) {
      await assert.rejects(files.download(run.run_id, path), { name: 'NotFoundError' });
    }
    const stored = (path: string) => api.request('GET', `/v1/runs/${run.run_id}/files${path}`);
    for (const path of ['', `/inputs/${letter.file_id}/file`]) assert.ok(!(await stored(path)).text.includes(CANARY));

    // The files belong to the runs: they outlive their upload, and another run takes them over.
    await client.files.delete(letter.file_id);
    const { run_id: second } = await client.runs.rerun(run.run_id);
    await until('it asks', async () => (await client.runs.get(second)).question);
    await client.runs.answer(second, answer);
    await until('the worker has its result', () => results.length === 2);
    assert.ok((await buffer(await files.download(second, kept))).equals(content));
    await assert.rejects(client.start({ method: keeping, inputs }), { code: 'invalid_inputs' });
  });

  test('a run without files has none, a file that was not sealed is not named, and what was changed is refused', async () => {
    const { client, key } = await newKey();
    const plain = new Methods({ apiKey: key, baseUrl: stack.ready.base_url, worker: false });
    const file = await plain.files.upload(Buffer.from('plain'), { name: 'a.txt' });
    const misnamed = client.start({ method: keeping, inputs: { word: 'x', letter: file } });
    await assert.rejects(misnamed, { name: 'InvalidRequestError', code: 'invalid_inputs' });
    for (const name of ['', '..', 'a/b', 'a\n']) {
      await assert.rejects(client.files.upload(Buffer.from('x'), { name }), { code: 'invalid_request' });
    }
    const sealed = await client.files.upload(Buffer.from('sealed'), { name: 'a.txt' });
    const account = plain.start({ method: keeping, inputs: { word: 'x', letter: sealed } });
    await assert.rejects(account, { name: 'InvalidRequestError', code: 'invalid_inputs' });

    const { run_id: runId } = await client.start({ method: keeping, inputs: { word: 'x', letter: sealed } });
    assert.deepEqual(await client.runs.files.list(runId), []);
    const damaged = { name: 'SealedValueError', code: 'sealed_value_damaged' };
    const path = `inputs/${sealed.file_id}/a.txt`;
    await stack.sql`update scheduler.file_chunks set chunk = set_byte(chunk, 100, get_byte(chunk, 100) # 1)
      where file_id = ${sealed.file_id}`;
    await assert.rejects(client.runs.files.download(runId, path).then(buffer), damaged);
    const stranger = (await newKey()).client;
    const missing = { name: 'SealedValueError', code: 'content_key_missing' };
    await assert.rejects(stranger.runs.files.download(runId, path).then(buffer), missing);
    await client.runs.cancel(runId);
    // A client that seals everything takes no plain run for one of its own.
    const { run_id: open } = await plain.start({ method: stack.method('greet'), inputs: { name: 'Ada' } });
    await assert.rejects(client.runs.files.list(open), damaged);
  });
});
