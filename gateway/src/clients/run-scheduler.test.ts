import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunId } from '@methods/base/ids';
import { RunStatus } from '@methods/proto/run/v1/run_pb';
import { gatewayFixture, until } from '../testing/gateway.fixture.ts';

type Gateway = Awaited<ReturnType<typeof gatewayFixture>>;

function start(gateway: Gateway, query = '', more: object = {}) {
  return gateway.ask('POST', `/v1/runs${query}`, { method: gateway.methodId, inputs: { name: 'Ada' }, ...more });
}

test('a start whose node dies before it replies is repeated elsewhere and creates one run', async () => {
  await using gateway = await gatewayFixture({ nodes: 2 });
  const [first, second] = gateway.nodes;
  assert.ok(first && second);
  for (const node of gateway.nodes) node.losesStartReplies = true;
  const started = start(gateway);
  await until(() => gateway.book.starts.length === 1);
  const [taker, other] = first.count('start') === 1 ? [first, second] : [second, first];
  other.losesStartReplies = false;
  await taker.stop();
  const { status, body } = await started;
  // Without a key the caller cannot know of a repeat.
  assert.deepEqual([status, body.status], [201, 'queued']);
  assert.equal(gateway.book.starts.length, 2);
  assert.deepEqual([...gateway.book.runs.keys()], [body.run_id]);
});

test('calls wait for a node to come back and then complete', async () => {
  await using gateway = await gatewayFixture();
  const [node] = gateway.nodes;
  assert.ok(node);
  await node.stop();
  await until(() => !gateway.scheduler.ready);
  const started = start(gateway);
  await node.start();
  assert.equal((await started).status, 201);
});

test('a node that accepts calls and never replies is skipped, and its calls go to another', async () => {
  await using gateway = await gatewayFixture({ nodes: 2 });
  const [frozen, other] = gateway.nodes;
  assert.ok(frozen && other);
  frozen.frozen = true;
  const begun = performance.now();
  const replies = await Promise.all(Array.from({ length: 8 }, () => start(gateway)));
  const tookMs = performance.now() - begun;
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([201]));
  assert.ok(frozen.count('start') > 0, 'the frozen node was asked');
  assert.ok(tookMs >= 1_500, `took ${Math.round(tookMs)} ms`);
  const before = frozen.count('start');
  await Promise.all([start(gateway), start(gateway)]);
  assert.equal(frozen.count('start'), before);
});

test('a wait continues when the node that pushed for it is gone', async () => {
  await using gateway = await gatewayFixture({ nodes: 2 });
  const waiting = start(gateway, '?wait_ms=30000');
  await until(() => gateway.book.runs.size === 1);
  const [runId] = gateway.book.runs.keys();
  const taker = gateway.nodes.find((node) => node.count('start') === 1);
  const other = gateway.nodes.find((node) => node !== taker);
  assert.ok(runId && taker && other);
  await taker.stop();
  await until(() => other.watched.has(runId));
  other.push(gateway.book.succeed(runId as RunId, '{"text":"moved"}'));
  assert.deepEqual((await waiting).body.result, { text: 'moved' });
});

test('a run that finished while no push could arrive is found by the next watch', async () => {
  await using gateway = await gatewayFixture();
  const waiting = start(gateway, '?wait_ms=30000');
  await until(() => gateway.book.runs.size === 1);
  const [runId] = gateway.book.runs.keys();
  gateway.book.succeed((runId ?? 'run_none') as RunId, '{}');
  assert.equal((await waiting).body.status, 'succeeded');
});

test('starts go to nodes that own shards and are not draining', async () => {
  await using gateway = await gatewayFixture({ nodes: 3 });
  const [empty, draining, good] = gateway.nodes;
  assert.ok(empty && draining && good);
  empty.shardsOwned = 0;
  draining.draining = true;
  for (const node of gateway.nodes) node.tellStatus();
  // Each node has its own stream, so the good one may connect first.
  await until(async () => {
    const before = good.count('start');
    await Promise.all(Array.from({ length: 6 }, () => start(gateway)));
    return good.count('start') === before + 6;
  });
  const before = [empty.count('start'), draining.count('start')];
  await Promise.all(Array.from({ length: 6 }, () => start(gateway)));
  assert.deepEqual([empty.count('start'), draining.count('start')], before);
});

test('with no node at all a request gets 503 with Retry-After at its deadline', async () => {
  await using gateway = await gatewayFixture();
  const [node] = gateway.nodes;
  await node?.stop();
  const { status, body, headers } = await start(gateway);
  assert.deepEqual([status, body.error], [503, 'unavailable']);
  assert.ok(Number(headers.get('retry-after')) >= 1);
});

test('an answer without a question id is not repeated when its node dies', async () => {
  await using gateway = await gatewayFixture({ nodes: 2 });
  const { body } = await start(gateway);
  gateway.book.change(body.run_id, { status: RunStatus.RUNNING });
  const answering = gateway.ask('POST', `/v1/runs/${body.run_id}/answer`, { answer: {} });
  await until(() => gateway.nodes.some((node) => node.count('get') === 1));
  // No question is open, so the answer is sent without an id: the node refuses it, and no other node is asked.
  const { status } = await answering;
  assert.equal(status, 409);
  assert.equal(
    gateway.nodes.reduce((sum, node) => sum + node.count('answer'), 0),
    1,
  );
});
