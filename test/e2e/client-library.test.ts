// The Node library of applications, against a running stack.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createServiceKey } from '@methods/auth/service-key';
import { Methods } from '@methods/client/index';
import { until } from '../harness/until.ts';
import { commonStack } from './common-stack.ts';
import { countingSource, SavedMethod } from './saved-method.ts';
import type { Stack } from './stack.ts';

describe('client library', () => {
  let stack: Stack;
  let methods: Methods;
  before(async () => {
    stack = await commonStack();
    methods = new Methods({ apiKey: stack.ready.api_key, baseUrl: stack.ready.base_url });
  });

  const method = (name: string) => stack.ready.methods[name] ?? assert.fail(Object.keys(stack.ready.methods).join());

  test('a run returns its result, and the same key returns the same run', async () => {
    const start = {
      method: method('greet'),
      inputs: { name: 'Ada' },
      idempotencyKey: `client-${process.pid}-${Date.now()}`,
    };
    const run = await methods.run(start);
    assert.equal(run.status, 'succeeded', JSON.stringify(run));
    assert.equal((await methods.start(start)).run_id, run.run_id);
    assert.deepEqual((await methods.runs.get(run.run_id)).result, run.result);
    const changed = { ...start, metadata: { other: 'value' } };
    await assert.rejects(methods.start(changed), { name: 'ConflictError', code: 'idempotency_conflict' });
  });

  test('a run that asks returns after its question was answered', async () => {
    const metadata = { of: 'client-library' };
    const running = methods.run({
      method: method('approve'),
      inputs: { order_id: 'ord_client', amount: 250 },
      metadata,
    });
    const runId = await until('the run waits', async () => {
      const reply = await stack.api.request('GET', '/v1/runs?status=waiting&metadata.of=client-library');
      return (JSON.parse(reply.text) as { items: { run_id: string }[] }).items[0]?.run_id;
    });
    await methods.runs.answer(runId, { decision: 'approve' });
    const run = await running;
    assert.deepEqual([run.run_id, run.status], [runId, 'succeeded']);
  });

  test('a run is cancelled and repeated', async () => {
    const saved = await SavedMethod.create(stack, countingSource(0));
    await saved.publish();
    const { run_id } = await methods.start({ method: saved.id, inputs: { n: 1 } });
    assert.equal((await methods.runs.cancel(run_id)).status, 'cancelled');
    const again = await methods.runs.rerun(run_id);
    assert.notEqual(again.run_id, run_id);
    await methods.runs.cancel(again.run_id);
  });

  test('an unknown key and an unknown run are typed errors', async () => {
    const stranger = new Methods({ apiKey: createServiceKey().key, baseUrl: stack.ready.base_url });
    await assert.rejects(stranger.runs.get('run_1'), { name: 'AuthenticationError', status: 401 });
    await assert.rejects(methods.runs.get('run_none'), { name: 'NotFoundError', code: 'not_found' });
  });
});
