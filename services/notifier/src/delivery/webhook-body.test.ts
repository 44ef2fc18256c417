import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { DeliveredChange, DeliveredEvent } from './run-event.ts';
import { deviceBody, webhookBody } from './webhook-body.ts';

const at = Date.parse('2026-11-02T10:20:30.004Z');

function eventOf(change: DeliveredChange, contentLeftOut = false): DeliveredEvent {
  return {
    orgId: 'org_1',
    runId: 'run_1',
    seq: 7,
    method: 'wf_1',
    versionId: 'ver_1',
    webhookUrl: 'https://example.com/',
    keyId: 'key_1',
    answerBy: 'application',
    createdAtMs: at,
    change,
    contentLeftOut,
    follows: null,
  };
}

function read(change: DeliveredChange, contentLeftOut = false): Record<string, unknown> {
  return JSON.parse(webhookBody(eventOf(change, contentLeftOut), 'dlv_1').toString('utf8'));
}

const common = {
  delivery_id: 'dlv_1',
  seq: 7,
  run_id: 'run_1',
  method: 'wf_1',
  version_id: 'ver_1',
  created_at: '2026-11-02T10:20:30.004Z',
};

test('a question has its form and its times', () => {
  const question = {
    id: 'q_1',
    step: 'approve',
    prompt: 'Approve “this”?\n',
    details: 'Line',
    show: [{ path: 'inputs.total', valueJson: '1234567890.25' }],
    formJson: '{"type":"object"}',
    askedAtMs: at,
    deadlineAtMs: 0,
  };
  assert.deepEqual(read({ event: 'needs_input', question }), {
    event: 'needs_input',
    status: 'waiting',
    ...common,
    question: {
      id: 'q_1',
      step: 'approve',
      prompt: 'Approve “this”?\n',
      details: 'Line',
      show: [{ path: 'inputs.total', value: 1234567890.25 }],
      form: { type: 'object' },
      asked_at: '2026-11-02T10:20:30.004Z',
      deadline_at: null,
    },
  });
});

test('a question without details has no such member', () => {
  const question = {
    id: 'q_1',
    step: 's',
    prompt: 'p',
    details: '',
    show: [],
    formJson: '{}',
    askedAtMs: at,
    deadlineAtMs: at,
  };
  const body = read({ event: 'needs_input', question });
  assert.deepEqual(Object.keys(body.question as object), [
    'id',
    'step',
    'prompt',
    'show',
    'form',
    'asked_at',
    'deadline_at',
  ]);
});

test('a result passes through with every digit', () => {
  const body = webhookBody(
    eventOf({ event: 'succeeded', resultJson: '{"n":12345678901234567890.10,"t":"é"}' }),
    'dlv_1',
  );
  assert.ok(body.toString('utf8').includes('"result":{"n":12345678901234567890.10,"t":"é"}'));
  assert.equal('result' in read({ event: 'succeeded', resultJson: '' }), false);
});

test('an event whose content was too large for a message states that it is left out', () => {
  assert.deepEqual(read({ event: 'succeeded', resultJson: '' }, true), {
    event: 'succeeded',
    status: 'succeeded',
    ...common,
    content_left_out: true,
  });
  const question = {
    id: 'q_1',
    step: 's',
    prompt: 'p',
    details: '',
    show: [],
    formJson: '',
    askedAtMs: at,
    deadlineAtMs: at,
  };
  const body = read({ event: 'needs_input', question }, true);
  assert.deepEqual(Object.keys(body.question as object), ['id', 'step', 'prompt', 'asked_at', 'deadline_at']);
  assert.equal(body.content_left_out, true);
});

test('a failure has its error, without members that do not apply', () => {
  assert.deepEqual(read({ event: 'failed', error: { code: 'run_timeout', kind: '', message: 'Too long', step: '' } }), {
    event: 'failed',
    status: 'failed',
    ...common,
    error: { code: 'run_timeout', message: 'Too long' },
  });
});

test('a cancelled run has neither question, result nor error', () => {
  assert.deepEqual(read({ event: 'cancelled' }), { event: 'cancelled', status: 'cancelled', ...common });
});

test('any text arrives unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.json(), (text, json) => {
      const body = read({ event: 'failed', error: { code: 'c', kind: 'k', message: text, step: text } });
      assert.deepEqual(body.error, { code: 'c', kind: 'k', message: text, ...(text === '' ? {} : { step: text }) });
      assert.deepEqual(read({ event: 'succeeded', resultJson: json }).result, JSON.parse(json));
    }),
  );
});

test('of a run in device mode the body has its status, and what it asks as its worker sealed it', () => {
  const question = { id: 'q_1', step: 'approve', prompt: '', details: '', show: [], formJson: '', askedAtMs: at };
  const body = (change: DeliveredChange) => JSON.parse(deviceBody({ ...eventOf(change), onDevice: true }).toString());
  const asked = { ...question, deadlineAtMs: 0, sealed: 'AQI' };
  const times = { asked_at: '2026-11-02T10:20:30.004Z', deadline_at: null };
  assert.deepEqual(body({ event: 'needs_input', question: asked }), {
    ...{ run_id: 'run_1', status: 'waiting' },
    question: { id: 'q_1', step: 'approve', sealed: { $sealed: 'AQI' }, ...times },
  });
  const error = { code: 'step_failed', kind: 'http', message: '{"$sealed":"AQ"}', step: 'pay' };
  assert.deepEqual(body({ event: 'failed', error }), { run_id: 'run_1', status: 'failed' });
  assert.deepEqual(body({ event: 'succeeded', resultJson: '' }), { run_id: 'run_1', status: 'succeeded' });
});
