import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { newRunId, productionMethodId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { type GatewayItem, StartRunSchema } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { gatewayFixture } from '../testing/gateway.fixture.ts';

type Gateway = Awaited<ReturnType<typeof gatewayFixture>>;

const MIB = 1024 * 1024;
const here = { id: 'key_1' as const, gone: false, onGone: () => () => {} };

function start(gateway: Gateway, inputsJson: string, orgId = gateway.orgId) {
  const { methodId, versionId } = gateway;
  const request = create(StartRunSchema, { orgId, method: productionMethodId(methodId), versionId, inputsJson });
  request.idempotencyHash = Buffer.from(newRunId(0));
  return gateway.scheduler.startRun(request, 'req_1', null, here);
}

test('a call that no message can carry fails by itself: no stream ends, and the calls beside it complete', async () => {
  await using gateway = await gatewayFixture({ nodes: 2 });
  const calls = Array.from({ length: 20 }, (_, i) => start(gateway, i % 10 === 3 ? 'x'.repeat(5 * MIB) : '{}'));
  const outcomes = await Promise.allSettled(calls);
  const failed = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason.code);
  assert.deepEqual(failed, ['too_large', 'too_large']);
  assert.deepEqual(
    gateway.nodes.map(({ streams }) => streams),
    [1, 1],
  );
  // A slow node is asked again, under the same key.
  assert.equal(gateway.book.runs.size, 18);
});

/** Makes the node end its stream when it gets a start with these inputs. */
function poisoned(error: ServiceError) {
  return ({ item }: GatewayItem) => (item.case === 'start' && item.value.inputsJson === 'poison' ? error : null);
}

test('a call whose content ended its stream is not sent to another node', async () => {
  await using gateway = await gatewayFixture({ nodes: 3 });
  for (const node of gateway.nodes) node.endsStreamOver = poisoned(new ServiceError('too_large'));
  await assert.rejects(start(gateway, 'poison'), { code: 'unavailable' });
  const asked = gateway.nodes.reduce((sum, node) => sum + node.count('start'), 0);
  assert.equal(asked, 1);
});

test('a call during which two nodes died is not sent to a third', async () => {
  await using gateway = await gatewayFixture({ nodes: 3 });
  for (const node of gateway.nodes) node.endsStreamOver = poisoned(new ServiceError('unavailable'));
  await assert.rejects(start(gateway, 'poison'), { code: 'unavailable' });
  const asked = gateway.nodes.reduce((sum, node) => sum + node.count('start'), 0);
  assert.equal(asked, 2);
});
