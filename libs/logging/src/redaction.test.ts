import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { redacted } from './redaction.ts';

describe('redaction', () => {
  test('removes the value of fields with a secret name', () => {
    for (const name of [
      ...['inputs', 'answer', 'result', 'out', 'prompt', 'content', 'body', 'source', 'key', 'token', 'secret'],
      ...['password', 'authorization', 'cookie', 'set-cookie', 'access_token', 'webhook_secret'],
      ...['inputs_json', 'resultJson', 'client_secret', 'webhookSecret'],
    ]) {
      deepEqual(redacted({ [name]: 'hunter2' }), { [name]: '[redacted]' });
      deepEqual(redacted({ [name]: { deep: ['hunter2'] } }), { [name]: '[redacted]' });
    }
  });

  test('finds them at any depth, in lists too', () => {
    const record = redacted({
      request: { headers: { authorization: 'Bearer hunter2' }, runs: [{ answer: 'hunter2' }] },
    });
    deepEqual(record, { request: { headers: { authorization: '[redacted]' }, runs: [{ answer: '[redacted]' }] } });
  });

  test('keeps ids, codes, counts and times', () => {
    const fields = { run_id: 'run_1', key_id: 'key_1', code: 'ok', total_ms: 1.5, serving: true, none: null };
    deepEqual(redacted(fields), fields);
  });

  test('does not change the given value', () => {
    const fields = { nested: { secret: 'x' } };
    redacted(fields);
    equal(fields.nested.secret, 'x');
  });

  test('prints nothing below six levels, so that a circle ends', () => {
    const circle: Record<string, unknown> = { run_id: 'run_1' };
    circle.self = circle;
    ok(JSON.stringify(redacted(circle)).endsWith(`"self":"[redacted]"${'}'.repeat(6)}`));
  });

  test('leaves a field without a value without one', () => {
    deepEqual(redacted({ answer: undefined }), { answer: undefined });
  });
});

test('errors become records wherever they are, but those the logger serializes are left to it', () => {
  const failed = Object.assign(new RangeError('hunter2'), { query: 'hunter2', parameters: ['hunter2'] });
  for (const fields of [{ reason: failed }, { failures: [failed] }, { nested: { error: failed } }]) {
    const text = JSON.stringify(redacted(fields));
    ok(!text.includes('hunter2'), text);
    ok(text.includes('"type":"RangeError"'), text);
  }
  deepEqual(redacted({ error: failed, err: 'thrown' }), { error: failed, err: 'thrown' });
});
