// Device mode from end to end: a client and a worker with the same key, and a service between them that can read
// nothing.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createServiceKey, parseBearerKey } from '@methods/auth/service-key';
import { systemClock } from '@methods/base/clock';
import type { ProductionId } from '@methods/base/ids';
import { Methods } from '@methods/client/index';
import { ContentKey } from '@methods/content/device/content-key';
import { silentLogger } from '@methods/logging/logger';
import { Worker, type WorkerOptions } from '@methods/worker/worker';
import { tempFolder } from '../harness/temp-folder.ts';
import { TEST_DOER } from '../harness/test-doer.ts';
import { until } from '../harness/until.ts';
import { commonStack } from './common-stack.ts';
import type { Stack } from './stack.ts';

const CANARY = 'ord_canary5b21';

describe('device mode from end to end', () => {
  let stack: Stack;
  let method: string;
  const workers: Worker[] = [];

  before(async () => {
    stack = await commonStack();
    method = stack.method('approve');
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
      methods: [method as ProductionId],
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
});
