// The hosts that an organization lists, checked again at each try.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newId } from '@methods/base/ids';
import { until } from '@methods/test/harness/until';
import { deliveriesOf, url } from '../../test/deliveries.fixture.ts';
import { type NotifierStack, notifierStack, succeeded } from '../../test/notifier-stack.fixture.ts';
import { receiver, status } from '../../test/receiver.fixture.ts';

let stack: NotifierStack;
before(async () => {
  stack = await notifierStack();
});
after(() => stack[Symbol.asyncDispose]());
const { withNotifier, ended, faultsOf } = deliveriesOf(() => stack);

test('a host that the organization removed from its list during the run gets nothing, and the record says why', async () => {
  await using server = await receiver(status(200));
  const orgId = newId('org');
  const first = succeeded(url(server.port), { orgId });
  await withNotifier({ WEBHOOK_RETRY_MS: '10' }, async () => {
    stack.setWebhookHosts(orgId, ['127.0.0.1', 'hooks.example']);
    await stack.emit(first);
    assert.deepEqual(await ended(first), { status: 'delivered', tries: 1 });
    stack.setWebhookHosts(orgId, ['*.example']);
    // Announced on the same connection before the event: the cached answer is dropped long before its half minute.
    const second = succeeded(url(server.port), { orgId });
    await stack.emit(second);
    assert.deepEqual(await ended(second), { status: 'exhausted', tries: 2 });
    assert.deepEqual(await faultsOf(second), ['host_not_allowed', 'host_not_allowed']);
    assert.equal(server.requests.length, 1);
    stack.setWebhookHosts(orgId, []);
    const third = succeeded(url(server.port), { orgId });
    await stack.emit(third);
    assert.deepEqual(await ended(third), { status: 'delivered', tries: 1 });
  });
});

test('a missed change of the hosts counts once the bus is available again', async () => {
  await using server = await receiver(status(200));
  const orgId = newId('org');
  await withNotifier({ WEBHOOK_RETRY_MS: '10' }, async () => {
    const first = succeeded(url(server.port), { orgId });
    await stack.emit(first);
    assert.deepEqual(await ended(first), { status: 'delivered', tries: 1 });
    await stack.nats.kill();
    stack.setWebhookHosts(orgId, ['hooks.example'], false);
    await stack.nats.restart();
    const second = succeeded(url(server.port), { orgId });
    await until('the bus takes it', () =>
      stack.emit(second).then(
        () => true,
        () => false,
      ),
    );
    assert.deepEqual(await ended(second), { status: 'exhausted', tries: 2 });
    assert.deepEqual(await faultsOf(second), ['host_not_allowed', 'host_not_allowed']);
  });
});
