import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId, newRunId, type RunId } from '@methods/base/ids';
import { RunStatus } from '@methods/proto/run/v1/run_pb';
import { type GatewayFixture, gatewayFixture, until } from '../../testing/gateway.fixture.ts';

async function startedRun(gateway: GatewayFixture): Promise<RunId> {
  const { body } = await gateway.ask('POST', '/v1/runs', { method: gateway.methodId, inputs: { name: 'Ada' } });
  return body.run_id;
}

test('a run is read as documented', async () => {
  await using gateway = await gatewayFixture();
  const runId = await startedRun(gateway);
  const { status, body } = await gateway.ask('GET', `/v1/runs/${runId}`);
  assert.equal(status, 200);
  assert.equal(body.run_id, runId);
  assert.equal(body.method, `wf_${gateway.methodId}`);
  assert.deepEqual(
    body.steps.map(({ name, status }: { name: string; status: string }) => [name, status]),
    [
      ['greet', 'pending'],
      ['approve', 'pending'],
    ],
  );
});

test('malformed, unknown and foreign runs look the same', async () => {
  await using gateway = await gatewayFixture();
  const runId = await startedRun(gateway);
  const foreign = gateway.registry.key(newId('org')).key;
  const replies = await Promise.all([
    gateway.ask('GET', '/v1/runs/run_1'),
    gateway.ask('GET', `/v1/runs/${newRunId(3)}`),
    gateway.ask('GET', `/v1/runs/${runId}`, undefined, { authorization: `Bearer ${foreign}` }),
    gateway.ask('GET', `/v1/runs/${runId}?wait_ms=1000`, undefined, { authorization: `Bearer ${foreign}` }),
  ]);
  for (const { status, body } of replies) {
    assert.equal(status, 404);
    assert.deepEqual({ ...body, request_id: '' }, { error: 'not_found', message: body.message, request_id: '' });
  }
  assert.equal(new Set(replies.map(({ body }) => body.message)).size, 1);
});

test('a finished run that was pushed is read without a call to a node, and only by its own organization', async () => {
  await using gateway = await gatewayFixture();
  const [node] = gateway.nodes;
  assert.ok(node);
  const runId = await startedRun(gateway);
  node.push(gateway.book.succeed(runId, '{"text":"done"}'));
  await until(async () => (await gateway.ask('GET', `/v1/runs/${runId}`)).body.status === 'succeeded');
  const asked = node.count('get');
  const { body } = await gateway.ask('GET', `/v1/runs/${runId}?wait_ms=1000`);
  assert.deepEqual(body.result, { text: 'done' });
  assert.equal(node.count('get') + node.count('watch'), asked);
  const foreign = gateway.registry.key(newId('org')).key;
  const stranger = await gateway.ask('GET', `/v1/runs/${runId}`, undefined, { authorization: `Bearer ${foreign}` });
  assert.equal(stranger.status, 404);
});

test('a wait for a run started elsewhere watches it and ends the watch afterwards', async () => {
  await using gateway = await gatewayFixture();
  const [node] = gateway.nodes;
  assert.ok(node);
  const runId = await startedRun(gateway);
  const waiting = gateway.ask('GET', `/v1/runs/${runId}?wait_ms=30000`);
  await until(() => node.watched.has(runId));
  node.push(gateway.book.change(runId, { status: RunStatus.FAILED }));
  assert.equal((await waiting).body.status, 'failed');
  await until(() => !node.watched.has(runId));
});

test('stops waiting when the caller hangs up', async () => {
  await using gateway = await gatewayFixture();
  const [node] = gateway.nodes;
  assert.ok(node);
  const runId = await startedRun(gateway);
  const abort = new AbortController();
  const waiting = fetch(`http://127.0.0.1:${gateway.port}/v1/runs/${runId}?wait_ms=60000`, {
    headers: { authorization: `Bearer ${gateway.apiKey.key}` },
    signal: abort.signal,
  });
  await until(() => node.watched.has(runId));
  abort.abort();
  await assert.rejects(waiting);
  await until(() => !node.watched.has(runId));
});

test('after_question waits past that question and ends at the next', async () => {
  await using gateway = await gatewayFixture();
  const [node] = gateway.nodes;
  assert.ok(node);
  const runId = await startedRun(gateway);
  const first = gateway.book.ask(runId).question?.id ?? '';
  const now = await gateway.ask('GET', `/v1/runs/${runId}?wait_ms=30000`);
  assert.equal(now.body.question.id, first);
  const waiting = gateway.ask('GET', `/v1/runs/${runId}?wait_ms=30000&after_question=${first}`);
  await until(() => node.watched.has(runId));
  node.push(gateway.book.change(runId, { metadata: { still: 'waiting' } }));
  const second = gateway.book.ask(runId);
  node.push(second);
  assert.equal((await waiting).body.question.id, second.question?.id);
  const malformed = await gateway.ask('GET', `/v1/runs/${runId}?wait_ms=10&after_question=first`);
  assert.equal(malformed.status, 400);
});

test('two waits for one run share its watch; the first to end does not end the other', async () => {
  await using gateway = await gatewayFixture();
  const [node] = gateway.nodes;
  assert.ok(node);
  const runId = await startedRun(gateway);
  const question = gateway.book.ask(runId).question?.id;
  const long = gateway.ask('GET', `/v1/runs/${runId}?wait_ms=60000&after_question=${question}`);
  await until(() => node.watched.has(runId));
  const short = await gateway.ask('GET', `/v1/runs/${runId}?wait_ms=50&after_question=${question}`);
  assert.equal(short.body.status, 'waiting');
  assert.ok(node.watched.has(runId));
  node.push(gateway.book.succeed(runId, '{}'));
  assert.equal((await long).body.status, 'succeeded');
});

test('stopping answers every wait with the present run', async () => {
  await using gateway = await gatewayFixture();
  const [node] = gateway.nodes;
  assert.ok(node);
  const runId = await startedRun(gateway);
  const waiting = gateway.ask('GET', `/v1/runs/${runId}?wait_ms=60000`);
  await until(() => node.watched.has(runId));
  gateway.stopping = true;
  gateway.scheduler.endWaits();
  const closing = gateway.app.close();
  const { status, body } = await waiting;
  assert.deepEqual([status, body.status], [200, 'queued']);
  await closing;
});
