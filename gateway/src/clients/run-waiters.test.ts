import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@methods/base/clock';
import type { RunId } from '@methods/base/ids';
import { gatewayFixture, until } from '../testing/gateway.fixture.ts';
import { RunWaiters } from './run-waiters.ts';

const caller = (id: string) => ({ id, gone: false, onGone: () => () => {} });

test('an organization has a bounded number of waiting requests, and they block no others', () => {
  const waiters = new RunWaiters(systemClock, () => {}, { placesMax: 40, perOrganizationMax: 10 });
  const leaves = Array.from({ length: 10 }, (_, i) => waiters.enter('org_a', caller(`key_${i}`)));
  assert.throws(() => waiters.enter('org_a', caller('key_11')), {
    code: 'rate_limited',
    facts: { share: 'organization', limit: '10' },
  });
  for (const orgId of ['org_b', 'org_c', 'org_d'] as const) waiters.enter(orgId, caller('key'));
  leaves[0]?.();
  waiters.enter('org_a', caller('key_11'));
});

test('only a start with a waiter is watched, and no longer than the wait', async () => {
  await using gateway = await gatewayFixture();
  const [node] = gateway.nodes;
  assert.ok(node);
  const start = { method: gateway.methodId, inputs: { name: 'Ada' } };
  await gateway.ask('POST', '/v1/runs', start);
  await gateway.ask('POST', '/v1/runs?wait_ms=20', start);
  const starts = node.received.filter(({ item }) => item.case === 'start');
  assert.deepEqual(
    starts.map(({ unwatched }) => unwatched),
    [true, false],
  );
  await until(() => node.count('unwatch') === 1);
});

test('a run that ended its wait by finishing costs the node no further message', async () => {
  await using gateway = await gatewayFixture();
  const [node] = gateway.nodes;
  assert.ok(node);
  node.onStarted = ({ runId }) => {
    node.push(gateway.book.succeed(runId, '{}'));
  };
  const start = { method: gateway.methodId, inputs: { name: 'Ada' } };
  const { body } = await gateway.ask('POST', '/v1/runs?wait_ms=10000', start);
  assert.equal(body.status, 'succeeded');
  assert.deepEqual(
    node.received.map(({ item }) => item.case),
    ['start'],
  );
});

test('an answer requests the next rest if a caller waited for the run here, and not for a run that has it by then', async () => {
  await using gateway = await gatewayFixture();
  const [node] = gateway.nodes;
  assert.ok(node);
  const start = { method: gateway.methodId, inputs: { name: 'Ada' } };
  const answer = async (path: string) => {
    const { body } = await gateway.ask('POST', path, start);
    node.push(gateway.book.ask(body.run_id, 'q_1'));
    await gateway.ask('POST', `/v1/runs/${body.run_id}/answer`, { answer: {}, question_id: 'q_1' });
    return body.run_id as string;
  };
  const awaited = await answer('/v1/runs?wait_ms=20');
  const other = await answer('/v1/runs');
  gateway.book.asksAtOnce = true;
  await answer('/v1/runs?wait_ms=20');
  const answers = node.received.filter(({ item }) => item.case === 'answer');
  assert.deepEqual(
    answers.map(({ unwatched }) => unwatched),
    [false, true, false],
  );
  node.push(gateway.book.succeed(awaited as RunId, '{}'));
  // Its reply arrives after the push.
  await gateway.ask('GET', `/v1/runs/${other}`);
  const calls = node.received.length;
  const { body } = await gateway.ask('GET', `/v1/runs/${awaited}?wait_ms=10000`);
  assert.deepEqual([body.status, node.received.length - calls], ['succeeded', 0]);
});
