import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '@methods/base/ids';
import { type GatewayFixture, gatewayFixture } from '../../testing/gateway-fixture.ts';

async function waitingRun(gateway: GatewayFixture): Promise<{ path: string; questionId: string }> {
  const { body } = await gateway.ask('POST', '/v1/runs', { method: gateway.methodId, inputs: { name: 'Ada' } });
  const questionId = gateway.book.ask(body.run_id).question?.id ?? '';
  return { path: `/v1/runs/${body.run_id}/answer`, questionId };
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

test('an answer when nothing is open or another question is open is a conflict that tells the status', async () => {
  await using gateway = await gatewayFixture();
  const { path, questionId } = await waitingRun(gateway);
  const other = await gateway.ask('POST', path, { answer: { ok: true }, question_id: newId('q') });
  assert.deepEqual([other.status, other.body.error], [409, 'question_changed']);
  await gateway.ask('POST', path, { answer: { ok: true }, question_id: questionId });
  const late = await gateway.ask('POST', path, { answer: { ok: false } });
  assert.deepEqual([late.status, late.body.error, late.body.status], [409, 'run_not_waiting', 'queued']);
});

test('an answer that is no object, missing or too large is refused before any node hears of it', async () => {
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
