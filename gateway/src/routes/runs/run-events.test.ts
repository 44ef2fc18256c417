import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { newId, newRunId, type RunId } from '@methods/base/ids';
import { RunStatus, StepStatus, type StepView } from '@methods/proto/run/v1/run_pb';
import { FollowedEvents } from '../../testing/followed-events.fixture.ts';
import { type GatewayFixture, gatewayFixture, until } from '../../testing/gateway.fixture.ts';

async function startedRun(gateway: GatewayFixture): Promise<RunId> {
  const { body } = await gateway.ask('POST', '/v1/runs', { method: gateway.methodId, inputs: { name: 'Ada' } });
  return body.run_id;
}

function followingOf(gateway: GatewayFixture, runId: RunId, lastEventId?: string, key = gateway.apiKey.key) {
  const headers = { authorization: `Bearer ${key}`, ...(lastEventId && { 'last-event-id': lastEventId }) };
  return FollowedEvents.of(`http://127.0.0.1:${gateway.port}/v1/runs/${runId}/events`, headers);
}

/** The first event has arrived. */
function isWhole({ text }: FollowedEvents): boolean {
  return text.includes('event: run') && text.endsWith('\n\n');
}

function greeted(changes: Partial<StepView> = {}): StepView {
  return {
    $typeName: 'methods.run.v1.StepView',
    path: 'greet',
    kind: 'node',
    status: StepStatus.SUCCEEDED,
    attempt: 1,
    startedAtMs: 1_000,
    finishedAtMs: 2_000,
    runningMs: 1_000,
    waitingMs: 0,
    checks: [],
    ...changes,
  };
}

test('sends the run as it is, then every changed step and status, until it has finished', async () => {
  await using gateway = await gatewayFixture();
  const [node] = gateway.nodes;
  assert.ok(node);
  const runId = await startedRun(gateway);
  const following = await followingOf(gateway, runId);
  const { headers, status } = following.response;
  assert.deepEqual(
    [status, headers.get('content-type'), headers.get('x-accel-buffering'), headers.get('cache-control')],
    [200, 'text/event-stream; charset=utf-8', 'no', 'no-store'],
  );
  assert.ok(headers.get('x-request-id'));
  await until(() => following.events.length === 1);
  assert.ok(node.stepwise.has(runId));
  const [first] = following.events;
  assert.deepEqual([first?.event, first?.id, first?.data.status], ['run', '1', 'queued']);
  const { steps, method } = (await gateway.ask('GET', `/v1/runs/${runId}`)).body;
  assert.deepEqual([first?.data.steps, first?.data.method], [steps, method]);
  node.push(gateway.book.change(runId, { status: RunStatus.RUNNING, attempts: 1 }));
  await until(() => following.events.length === 3);
  node.push(gateway.book.change(runId, { steps: [greeted()] }));
  await until(() => following.events.length === 5);
  node.push(gateway.book.succeed(runId, '{"text":"Hello Ada"}'));
  await until(() => following.over);
  assert.deepEqual(
    following.events.map(({ event, id, data }) => [event, id, data.name ?? data.run_id, data.status]),
    [
      ['run', '1', runId, 'queued'],
      ['step', null, 'greet', 'running'],
      ['status', '2', runId, 'running'],
      ['step', null, 'greet', 'succeeded'],
      ['step', '3', 'approve', 'running'],
      ['step', null, 'approve', 'skipped'],
      ['status', '4', runId, 'succeeded'],
    ],
  );
  assert.deepEqual(following.events.at(-1)?.data.result, { text: 'Hello Ada' });
  assert.equal(following.events.at(-1)?.data.steps, undefined);
  await until(() => !node.watched.has(runId));
});

test('a reader that reconnects gets what it missed, and nothing twice', async () => {
  await using gateway = await gatewayFixture();
  const [node] = gateway.nodes;
  assert.ok(node);
  const runId = await startedRun(gateway);
  const upToDate = await followingOf(gateway, runId, '1');
  await until(() => node.watched.has(runId));
  node.push(gateway.book.change(runId, { status: RunStatus.RUNNING }));
  await until(() => upToDate.events.length === 2);
  assert.deepEqual(
    upToDate.events.map(({ event }) => event),
    ['step', 'status'],
  );
  const behind = await followingOf(gateway, runId, '1');
  await until(() => behind.events.length === 1);
  assert.deepEqual([behind.events[0]?.event, behind.events[0]?.id], ['run', '2']);
  node.push(gateway.book.succeed(runId, '{}'));
  await until(() => upToDate.over && behind.over);
  const late = await followingOf(gateway, runId, '2');
  await until(() => late.over);
  assert.deepEqual(
    late.events.map(({ event, data }) => [event, data.status]),
    [['run', 'succeeded']],
  );
  assert.equal((await followingOf(gateway, runId, '3')).response.status, 204);
});

test('a reader with an id that was never sent gets the whole run and its end', async () => {
  await using gateway = await gatewayFixture();
  const [node] = gateway.nodes;
  assert.ok(node);
  const runId = await startedRun(gateway);
  const following = await followingOf(gateway, runId, '999999999');
  await until(() => node.watched.has(runId));
  node.push(gateway.book.succeed(runId, '{}'));
  await until(() => following.over);
  const kinds = following.events.map(({ event }) => event);
  assert.deepEqual([kinds[0], kinds.at(-1), following.events.at(-1)?.data.status], ['run', 'status', 'succeeded']);
  const late = await followingOf(gateway, runId, '999999999');
  await until(() => late.over);
  assert.deepEqual(
    late.events.map(({ event, data }) => [event, data.status]),
    [['run', 'succeeded']],
  );
});

test('streams of one run share its watch, and the last one to leave ends it', async () => {
  await using gateway = await gatewayFixture();
  const [node] = gateway.nodes;
  assert.ok(node);
  const runId = await startedRun(gateway);
  const [one, other] = await Promise.all([followingOf(gateway, runId), followingOf(gateway, runId)]);
  await until(() => one.events.length === 1 && other.events.length === 1);
  one.leave();
  await until(() => one.over);
  node.push(gateway.book.ask(runId));
  await until(() => other.events.some(({ data }) => data.question?.prompt === 'Send it?'));
  assert.ok(node.watched.has(runId));
  other.leave();
  await until(() => !node.watched.has(runId));
});

test('missing and foreign runs have no events', async () => {
  await using gateway = await gatewayFixture();
  const runId = await startedRun(gateway);
  const foreign = gateway.registry.key(newId('org')).key;
  assert.equal((await followingOf(gateway, runId, undefined, foreign)).response.status, 404);
  assert.equal((await followingOf(gateway, newRunId(3))).response.status, 404);
  assert.equal((await followingOf(gateway, 'run_1')).response.status, 404);
});

test('a key and an organization have a bounded number of streams, and others still get theirs', async () => {
  const limits = { streamsMax: 20, streamsPerOrganizationMax: 3, streamsPerCallerMax: 2 };
  await using gateway = await gatewayFixture({ eventStreamLimits: limits });
  const runId = await startedRun(gateway);
  const [one] = await Promise.all([followingOf(gateway, runId), followingOf(gateway, runId)]);
  const refused = await gateway.ask('GET', `/v1/runs/${runId}/events`);
  assert.deepEqual([refused.status, refused.body.error, refused.body.share], [429, 'rate_limited', 'key']);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  const otherKey = gateway.registry.key(gateway.orgId).key;
  assert.equal((await followingOf(gateway, runId, undefined, otherKey)).response.status, 200);
  const thirdKey = { authorization: `Bearer ${gateway.registry.key(gateway.orgId).key}` };
  const over = await gateway.ask('GET', `/v1/runs/${runId}/events`, undefined, thirdKey);
  assert.deepEqual([over.status, over.body.share, over.body.limit], [429, 'organization', '3']);

  const other = newId('org');
  const key = gateway.registry.key(other).key;
  const { methodId } = gateway.registry.method(other, gateway.source);
  const started = { method: methodId, inputs: { name: 'Eve' } };
  const { body } = await gateway.ask('POST', '/v1/runs', started, { authorization: `Bearer ${key}` });
  assert.equal((await followingOf(gateway, body.run_id, undefined, key)).response.status, 200);
  one.leave();
  await until(async () => {
    const again = await followingOf(gateway, runId);
    again.leave();
    return again.response.status === 200;
  });
});

test('a comment keeps a quiet stream open, and a credential that has lost its right ends it', async () => {
  await using gateway = await gatewayFixture({ eventStreamLimits: { beatMs: 20 } });
  const runId = await startedRun(gateway);
  const following = await followingOf(gateway, runId);
  await until(() => following.text.includes('\n\n: still here\n\n'));
  gateway.registry.revoke(gateway.apiKey.sha256);
  gateway.registryClient.onEventsMissed();
  await until(() => following.over);
  assert.deepEqual(following.events.at(-1), { event: 'dropped', id: null, data: { reason: 'unauthorized' } });
});

test('a reader that does not read is dropped, and holds only the newest state meanwhile', async () => {
  await using gateway = await gatewayFixture({ eventStreamLimits: { beatMs: 50, slowMs: 300 } });
  const [node] = gateway.nodes;
  assert.ok(node);
  const runId = await startedRun(gateway);
  const accepted = once(gateway.app.server, 'connection');
  const socket = connect(gateway.port, '127.0.0.1').pause();
  const [served] = (await accepted) as [Socket];
  socket.write(
    `GET /v1/runs/${runId}/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.apiKey.key}\r\n\r\n`,
  );
  await until(() => node.watched.has(runId));
  const message = 'x'.repeat(500_000);
  await until(() => {
    const error = {
      $typeName: 'methods.run.v1.StepError' as const,
      kind: 'exit',
      message: `${message}${Math.random()}`,
      status: 0,
      line: 0,
      reason: '',
      headers: {},
      body: '',
    };
    node.push(
      gateway.book.change(runId, { status: RunStatus.RUNNING, steps: [greeted({ status: StepStatus.FAILED, error })] }),
    );
    return !node.watched.has(runId);
  });
  await until(() => served.destroyed);
  socket.destroy();
});

test('a gateway that stops ends its streams, so that readers reconnect elsewhere', async () => {
  await using gateway = await gatewayFixture();
  const following = await followingOf(gateway, await startedRun(gateway));
  await until(() => following.events.length === 1);
  gateway.scheduler.endWaits();
  await until(() => following.over);
  assert.equal(following.events.length, 1);
});

test('unread events of large runs use up the share of their key, while those of others arrive', async () => {
  const limits = { bytesMax: 64 << 20, bytesPerOrganizationMax: 16 << 20, bytesPerCallerMax: 2 << 20 };
  await using gateway = await gatewayFixture({ eventStreamLimits: limits });
  const runId = await startedRun(gateway);
  const steps = Array.from({ length: 3_000 }, (_, n) => greeted({ path: `greet[${n}]` }));
  gateway.book.change(runId, { status: RunStatus.RUNNING, steps });
  const { key } = gateway.registry.key(gateway.orgId);
  const one = await followingOf(gateway, runId);
  await until(() => isWhole(one));
  const two = await followingOf(gateway, runId);
  await until(() => two.over);
  assert.deepEqual([one.over, two.events], [false, []]);
  const other = await followingOf(gateway, runId, undefined, key);
  await until(() => isWhole(other));
  assert.equal(other.events[0]?.data.steps.length, 3_002);
  one.leave();
  await until(async () => {
    const again = await followingOf(gateway, runId);
    await until(() => again.over || isWhole(again));
    again.leave();
    return isWhole(again);
  });
  other.leave();
});
