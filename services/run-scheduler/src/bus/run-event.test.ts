import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromBinary } from '@bufbuild/protobuf';
import { RunEventSchema } from '@methods/proto/event/v1/event_pb';
import { RunStatus } from '@methods/proto/run/v1/run_pb';
import { person, runs } from '../run/run.fixture.ts';
import { runEvent } from './run-event.ts';

test('an event is named by its run and its revision, which orders the events of a run', () => {
  const event = runEvent(runs.waiting, { event: 'needs_input', follows: { seq: 4, atMs: 1_000 } });
  const { facts, revision } = runs.waiting;
  assert.deepEqual([event.outboxId, event.seq], [`${facts.runId}.${revision}`, revision]);
  const body = fromBinary(RunEventSchema, event.body);
  assert.deepEqual([body.outboxId, body.seq, body.event], [event.outboxId, event.seq, 'needs_input']);
  assert.deepEqual([body.followsSeq, body.followsAtMs], [4, 1_000]);
  assert.deepEqual([body.orgId, body.webhookUrl, body.keyId], [facts.orgId, facts.webhookUrl, facts.keyId]);
});

test('an assignment names the person who gets the question and the person who gave it, beside the question', () => {
  const [to, by] = [person('ben'), person('ann')];
  const event = runEvent(runs.waiting, { event: 'question.assigned', follows: null, assigned: { to, by } });
  const body = fromBinary(RunEventSchema, event.body);
  assert.deepEqual([body.assigned?.to?.email, body.assigned?.by?.name], [to.email, by.name]);
  assert.equal(body.question?.id, runs.waiting.question.id);
});

test('a question too large for a message of the bus is left to be read from the run', () => {
  const { question } = runs.waiting;
  const show = Array.from({ length: 4 }, () => ({ path: 'a', valueJson: `"${'x'.repeat(1 << 20)}"` }));
  const waiting = { ...runs.waiting, question: { ...question, prompt: `${'x'.repeat(998)}😀😀`, show } };
  const event = runEvent(waiting, { event: 'needs_input', follows: null });
  assert.ok(event.body.length < 16_384, `${event.body.length} bytes`);
  const body = fromBinary(RunEventSchema, event.body);
  assert.deepEqual([body.contentLeftOut, body.question?.id, body.question?.show], [true, question.id, []]);
  assert.equal(body.question?.prompt, `${'x'.repeat(998)}…`);
});

for (const [run, event, status, holds] of [
  [runs.waiting, 'needs_input', RunStatus.WAITING, 'question'],
  [runs.succeeded, 'succeeded', RunStatus.SUCCEEDED, 'resultJson'],
  [runs.failed, 'failed', RunStatus.FAILED, 'error'],
  [runs.cancelled, 'cancelled', RunStatus.CANCELLED, null],
] as const) {
  test(`of a run that is ${run.status} it holds ${holds ?? 'nothing more'}`, () => {
    const body = fromBinary(RunEventSchema, runEvent(run, { event, follows: null }).body);
    const held = (['question', 'resultJson', 'error'] as const).filter((field) => Boolean(body[field]));
    assert.deepEqual([body.status, held], [status, holds === null ? [] : [holds]]);
  });
}
