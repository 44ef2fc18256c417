import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId, type QuestionId, type RunId } from '@methods/base/ids';
import { RunStatus } from '@methods/proto/run/v1/run_pb';
import { type GatewayFixture, gatewayFixture, until } from '../../testing/gateway.fixture.ts';
import type { SchedulerPeer } from '../../testing/scheduler-peer.fixture.ts';

async function waitingRun(gateway: GatewayFixture): Promise<{ runId: RunId; path: string; questionId: QuestionId }> {
  const { body } = await gateway.ask('POST', '/v1/runs', { method: gateway.methodId, inputs: { name: 'Ada' } });
  const questionId = gateway.book.ask(body.run_id).question?.id ?? '';
  return { runId: body.run_id, path: `/v1/runs/${body.run_id}/answer`, questionId: questionId as QuestionId };
}

/** A waiting run, its node, and an answer to it whose request waits for the next rest. */
async function awaitedAnswer(gateway: GatewayFixture, waitMs = 30_000) {
  const node = gateway.nodes[0] as SchedulerPeer;
  const { runId, path, questionId } = await waitingRun(gateway);
  const begun = node.received.length;
  const answer = () =>
    gateway.ask('POST', `${path}?wait_ms=${waitMs}`, { answer: { ok: true }, question_id: questionId });
  const calls = () => node.received.slice(begun).map(({ item }) => item.case);
  return { node, runId, answer, calls };
}

function sentAnswer(gateway: GatewayFixture) {
  const item = gateway.nodes[0]?.received.find(({ item }) => item.case === 'answer')?.item;
  return item?.case === 'answer' ? item.value : null;
}

test('an answer to the named question queues the run again', async () => {
  await using gateway = await gatewayFixture();
  const { path, questionId } = await waitingRun(gateway);
  const { status, body } = await gateway.ask('POST', path, { answer: { ok: true }, question_id: questionId });
  assert.equal(status, 200);
  assert.equal(body.status, 'queued');
  assert.equal(body.question, undefined);
  assert.equal(sentAnswer(gateway)?.answerJson, '{"ok":true}');
  assert.equal(gateway.nodes[0]?.count('get'), 0);
});

test('an answer without a question id is stamped with the open question', async () => {
  await using gateway = await gatewayFixture();
  const { path, questionId } = await waitingRun(gateway);
  assert.equal((await gateway.ask('POST', path, { answer: { ok: true } })).status, 200);
  assert.equal(sentAnswer(gateway)?.questionId, questionId);
});

test('an answer is a conflict that shows the status when no question, or another one, is open', async () => {
  await using gateway = await gatewayFixture();
  const { path, questionId } = await waitingRun(gateway);
  const other = await gateway.ask('POST', path, { answer: { ok: true }, question_id: newId('q') });
  assert.deepEqual([other.status, other.body.error], [409, 'question_changed']);
  await gateway.ask('POST', path, { answer: { ok: true }, question_id: questionId });
  const late = await gateway.ask('POST', path, { answer: { ok: false } });
  assert.deepEqual([late.status, late.body.error, late.body.status], [409, 'run_not_waiting', 'queued']);
});

test('an answer that is not an object, is missing or is too large is refused without a call to a node', async () => {
  await using gateway = await gatewayFixture();
  const { path } = await waitingRun(gateway);
  assert.equal((await gateway.ask('POST', path, { answer: 5 })).status, 400);
  assert.equal((await gateway.ask('POST', path, {})).status, 400);
  assert.equal((await gateway.ask('POST', path)).status, 400);
  const large = await gateway.ask('POST', path, { answer: { text: 'ä'.repeat(33 * 1024) } });
  assert.equal(large.status, 413);
  assert.equal(large.body.details[0].code, 'answer_bytes');
  assert.equal(sentAnswer(gateway), null);
});

test('with wait_ms the reply is the run at its next rest, in one call to its node', async () => {
  await using gateway = await gatewayFixture();
  const { node, runId, answer, calls } = await awaitedAnswer(gateway);
  const waiting = answer();
  await until(() => node.count('answer') === 1);
  node.push(gateway.book.succeed(runId, '{"text":"sent"}'));
  const { status, body } = await waiting;
  assert.deepEqual([status, body.status, body.result], [200, 'succeeded', { text: 'sent' }]);
  assert.deepEqual(calls(), ['answer']);
});

test('with wait_ms an answer ends its wait at the next question, not at its own', async () => {
  await using gateway = await gatewayFixture();
  const { node, runId, answer } = await awaitedAnswer(gateway);
  const waiting = answer();
  await until(() => node.count('answer') === 1);
  node.push(gateway.book.change(runId, {}));
  const next = gateway.book.ask(runId);
  node.push(next);
  assert.equal((await waiting).body.question.id, next.question?.id);
});

test('a rest that is pushed before the reply to the answer ends the wait', async () => {
  await using gateway = await gatewayFixture();
  const { node, answer, calls } = await awaitedAnswer(gateway);
  node.onAnswered = ({ runId }) => node.push(gateway.book.succeed(runId, '{}'));
  assert.equal((await answer()).body.status, 'succeeded');
  assert.deepEqual(calls(), ['answer']);
});

test('replies with the present run when the time is up, and the node stops pushing', async () => {
  await using gateway = await gatewayFixture();
  const { answer, calls } = await awaitedAnswer(gateway, 20);
  const { status, body } = await answer();
  assert.deepEqual([status, body.status], [200, 'queued']);
  await until(() => calls().length === 3);
  assert.deepEqual(calls(), ['answer', 'get', 'unwatch']);
});

test('a repeated answer waits while the run continues, but not once it rests', async () => {
  await using gateway = await gatewayFixture();
  const { node, runId, answer } = await awaitedAnswer(gateway);
  const both = [answer(), answer()];
  await until(() => node.count('answer') === 2);
  node.push(gateway.book.succeed(runId, '{}'));
  const late = await answer();
  for (const { status, body } of [...(await Promise.all(both)), late]) {
    assert.deepEqual([status, body.status], [200, 'succeeded']);
  }
});

test('if a node does not announce a push, the run is watched', async () => {
  await using gateway = await gatewayFixture();
  const { node, runId, answer } = await awaitedAnswer(gateway);
  node.pushesAfterAnswers = false;
  const waiting = answer();
  await until(() => node.watched.has(runId));
  node.push(gateway.book.succeed(runId, '{}'));
  assert.equal((await waiting).body.status, 'succeeded');
  await until(() => !node.watched.has(runId));
});

test('an answer whose wait is refused is not given', async () => {
  await using gateway = await gatewayFixture();
  const { node, runId, answer } = await awaitedAnswer(gateway);
  const other = await waitingRun(gateway);
  const address = { orgId: gateway.orgId, runId: other.runId, requestId: 'test' };
  // Takes their places before the node replies.
  node.frozen = true;
  for (let i = 0; i < 5_000; i++) {
    const caller = { id: `key_${i}` as const, gone: false, onGone: () => () => {} };
    gateway.scheduler.waitForRun(address, { waitMs: 60_000, afterQuestion: null }, caller).catch(() => {});
  }
  const { status, body } = await answer();
  assert.deepEqual([status, body.error, body.share], [429, 'rate_limited', 'organization']);
  assert.equal(node.count('answer'), 0);
  assert.equal(gateway.book.get(gateway.orgId, runId).status, RunStatus.WAITING);
});

test('a wait that is too long, or names a question to wait past, is refused before the answer counts', async () => {
  await using gateway = await gatewayFixture();
  const { path, questionId } = await waitingRun(gateway);
  for (const query of ['wait_ms=60001', 'wait_ms=soon', `wait_ms=1&after_question=${questionId}`]) {
    assert.equal((await gateway.ask('POST', `${path}?${query}`, { answer: { ok: true } })).status, 400, query);
  }
  assert.equal(sentAnswer(gateway), null);
});

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
