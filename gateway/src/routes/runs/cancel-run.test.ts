import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunId } from '@methods/base/ids';
import { RunStatus } from '@methods/proto/run/v1/run_pb';
import { type GatewayFixture, gatewayFixture } from '../../testing/gateway.fixture.ts';

async function run(gateway: GatewayFixture): Promise<RunId> {
  const { body } = await gateway.ask('POST', '/v1/runs', { method: gateway.methodId, inputs: { name: 'Ada' } });
  return body.run_id;
}

test('a queued run is cancelled at once, and a repeat is accepted', async () => {
  await using gateway = await gatewayFixture();
  const path = `/v1/runs/${await run(gateway)}/cancel`;
  const { status, body } = await gateway.ask('POST', path);
  assert.deepEqual([status, body.status], [200, 'cancelled']);
  assert.ok(body.steps.every(({ status }: { status: string }) => status === 'cancelled'));
  assert.equal((await gateway.ask('POST', path, {})).status, 200);
});

test('a running run is asked to stop', async () => {
  await using gateway = await gatewayFixture();
  const runId = await run(gateway);
  gateway.book.change(runId, { status: RunStatus.RUNNING });
  const { status, body } = await gateway.ask('POST', `/v1/runs/${runId}/cancel`);
  assert.deepEqual([status, body.status, body.cancel_requested], [202, 'running', true]);
});

test('a finished run stays finished, and a cancel takes no fields', async () => {
  await using gateway = await gatewayFixture();
  const runId = await run(gateway);
  assert.equal((await gateway.ask('POST', `/v1/runs/${runId}/cancel`, { reason: 'x' })).status, 400);
  gateway.book.succeed(runId, '{}');
  const { status, body } = await gateway.ask('POST', `/v1/runs/${runId}/cancel`);
  assert.deepEqual([status, body.error, body.status], [409, 'run_finished', 'succeeded']);
});
