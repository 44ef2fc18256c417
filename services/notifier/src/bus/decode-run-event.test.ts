import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId, newRunId } from '@methods/base/ids';
import { RunEventSchema } from '@methods/proto/event/v1/event_pb';
import { Answerer } from '@methods/proto/run/v1/run_pb';
import { encoder } from '@methods/rpc/message-codec';
import { readEarlier, writtenEarlier } from '@methods/test/harness/earlier-proto';
import { decodeRunEvent } from './decode-run-event.ts';

const encode = encoder(RunEventSchema);

const whole = {
  outboxId: 'box_1',
  orgId: newId('org'),
  runId: newRunId(1),
  seq: 3,
  followsSeq: 2,
  followsAtMs: 4,
  event: 'succeeded',
  method: 'wf_1' as const,
  versionId: 'ver_1' as const,
  webhookUrl: 'https://example.com/',
  keyId: 'key_1' as const,
  answerBy: Answerer.APPLICATION,
  resultJson: '1',
  createdAtMs: 5,
};

test('an event is decoded with the content of its kind', () => {
  const decoded = decodeRunEvent(encode(whole));
  const { outboxId, event: _, resultJson: __, followsSeq, followsAtMs, ...facts } = whole;
  assert.deepEqual(decoded, {
    ok: true,
    outboxId,
    event: {
      ...facts,
      answerBy: 'application',
      change: { event: 'succeeded', resultJson: '1' },
      contentLeftOut: false,
      follows: { seq: followsSeq, atMs: followsAtMs },
    },
  });
});

test('a question is decoded completely', () => {
  const question = {
    id: 'q_1' as const,
    step: 's',
    prompt: 'p',
    details: '',
    formJson: '{}',
    askedAtMs: 1,
    deadlineAtMs: 0,
  };
  const shown = { ...question, show: [{ path: 'a', valueJson: '1' }] };
  const decoded = decodeRunEvent(encode({ ...whole, event: 'needs_input', question: shown }));
  assert.ok(decoded.ok && decoded.event.change.event === 'needs_input');
  assert.deepEqual(decoded.event.change.question.show, [{ path: 'a', valueJson: '1' }]);
  assert.equal(decoded.event.change.question.formJson, '{}');
});

test('an event of the release before comes through without what it does not know', () => {
  const { followsSeq: _, followsAtMs: __, answerBy: ___, ...facts } = whole;
  const question = { id: 'q_1', step: 's', prompt: 'p', formJson: '{}' };
  const fields = { ...facts, answerBy: 'ANSWERER_TEAM', event: 'needs_input', question };
  const decoded = decodeRunEvent(writtenEarlier(RunEventSchema, fields));
  assert.ok(decoded.ok && decoded.event.change.event === 'needs_input', JSON.stringify(decoded));
  const { follows, starter, contentLeftOut, change } = decoded.event;
  assert.deepEqual([follows, starter, contentLeftOut], [null, undefined, false]);
  const { rules, delegates, prompt } = change.question;
  assert.deepEqual([rules, delegates, prompt], [undefined, undefined, 'p']);
});

test('an event of a question is passed on by the release before, and any other as it was', () => {
  const policy = { to: ['ann@example.com'], needs: 2 };
  const question = { id: 'q_1' as const, step: 's', prompt: 'p', formJson: '{}', policy };
  const asked = readEarlier(RunEventSchema, encode({ ...whole, event: 'needs_input', question }));
  assert.deepEqual(asked.question, { id: 'q_1', step: 's', prompt: 'p', formJson: '{}' });
  const closed = { questionId: 'q_1' as const, reason: 'answered' };
  const ended = readEarlier(RunEventSchema, encode({ ...whole, event: 'question.closed', closed }));
  // It refuses an event that it does not know by its name, and confirms it.
  assert.deepEqual([ended.event, ended.outboxId, 'closed' in ended], ['question.closed', 'box_1', false]);
});

test('an assignment names the person who gets the question and the one who assigned it', () => {
  const question = { id: 'q_1' as const, step: 's', prompt: 'p', delegations: [{ to: { email: 'ben@example.com' } }] };
  const assigned = { to: { linkRecipient: 'ben@example.com' }, by: { name: '', email: 'ann@example.com' } };
  const decoded = decodeRunEvent(encode({ ...whole, event: 'question.assigned', question, assigned }));
  assert.ok(decoded.ok && decoded.event.change.event === 'question.assigned');
  const ben = { userId: '', email: 'ben@example.com' };
  assert.deepEqual([decoded.event.change.to, decoded.event.change.by], [ben, 'ann@example.com']);
  assert.deepEqual(decoded.event.change.question.delegates, [ben]);
});

test('an event that can never be delivered is refused with a reason and, if readable, its outbox id', () => {
  const refused: readonly (readonly [object, string])[] = [
    [{ outboxId: '' }, 'no outbox id'],
    [{ orgId: 'org_1' as const }, 'malformed organization id'],
    [{ runId: '../x' }, 'malformed run id'],
    [{ seq: 0 }, 'no seq'],
    [{ event: 'started' }, 'unknown event'],
    [{ event: 'needs_input' }, 'no question'],
    [{ event: 'question.assigned' }, 'no question'],
    [{ event: 'question.assigned', question: { id: 'q_1' as const } }, 'no person'],
    [{ event: 'failed' }, 'no error'],
    [{ webhookUrl: `https://${'x'.repeat(2048)}` }, 'webhook URL too long'],
    [{ webhookUrl: 'https://\u0000' }, 'NUL in a text'],
    [{ createdAtMs: Number.POSITIVE_INFINITY }, 'impossible time'],
  ];
  for (const [fields, fault] of refused) {
    const message = { ...whole, ...fields };
    assert.deepEqual(decodeRunEvent(encode(message)), { ok: false, outboxId: message.outboxId, fault });
  }
  assert.deepEqual(decodeRunEvent(Buffer.from('nonsense')), { ok: false, outboxId: '', fault: 'not a run event' });
});

test('an event of a run in device mode says so, and has its question sealed', () => {
  const question = { id: 'q_1' as const, step: 's', sealed: new Uint8Array([1, 2]), hasTimeoutAnswer: true };
  const decoded = decodeRunEvent(encode({ ...whole, event: 'needs_input', contentId: '0'.repeat(32), question }));
  assert.ok(decoded.ok && decoded.event.change.event === 'needs_input');
  const { sealed, answersItself } = decoded.event.change.question;
  assert.deepEqual([decoded.event.onDevice, sealed, answersItself], [true, 'AQI', true]);
});
