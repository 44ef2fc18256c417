import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AssertionFailed } from '@methods/base/assert';
import { errorRecord, redacted } from './logger.ts';

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

/** As postgres.js throws it: the failed query's parameters and the values in conflict hang on the error. */
function databaseError(): Error {
  return Object.assign(new Error('invalid input syntax for type json: "hunter2"'), {
    name: 'PostgresError',
    code: '23505',
    severity: 'ERROR',
    detail: 'Key (name)=(hunter2) already exists.',
    hint: 'hunter2',
    where: 'hunter2',
    query: "insert into runs values ('hunter2')",
    parameters: ['hunter2'],
    args: ['hunter2'],
    schema_name: 'scheduler',
    table_name: 'runs',
    constraint_name: 'runs_pkey',
  });
}

function parserError(): unknown {
  try {
    return JSON.parse('hunter2');
  } catch (error) {
    return error;
  }
}

describe('the record of an error', () => {
  test('of a database names code, table and constraint, and neither query, parameters nor values', () => {
    const { at, ...told } = errorRecord(databaseError());
    deepEqual(told, {
      type: 'PostgresError',
      code: '23505',
      constraint_name: 'runs_pkey',
      table_name: 'runs',
      schema_name: 'scheduler',
      severity: 'ERROR',
    });
    ok(!JSON.stringify(at).includes('hunter2'));
  });

  test('of a parser does not quote the text it refused', () => {
    const error = parserError();
    ok(String(error).includes('hunter2'));
    const record = errorRecord(error);
    equal(record.type, 'SyntaxError');
    ok(!JSON.stringify(record).includes('hunter2'));
  });

  test('keeps the message where it is known to be free of values', () => {
    const named = (name: string) => Object.assign(new Error('A sentence of ours.'), { name });
    for (const error of [
      named('ServiceError'),
      named('ConfigError'),
      new AssertionFailed('A sentence of ours.'),
      new TypeError('A sentence of ours.'),
    ]) {
      equal(errorRecord(error).message, 'A sentence of ours.');
    }
    equal(errorRecord(new Error('hunter2')).message, undefined);
    equal(
      errorRecord(Object.assign(new TypeError('got hunter2'), { code: 'ERR_INVALID_ARG_TYPE' })).message,
      undefined,
    );
  });

  test('of a failed system call says which, and where', () => {
    const error = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), {
      code: 'ECONNREFUSED',
      syscall: 'connect',
    });
    const { type, code, syscall, message } = errorRecord(error);
    deepEqual(
      [type, code, syscall, message],
      ['Error', 'ECONNREFUSED', 'connect', 'connect ECONNREFUSED 127.0.0.1:5432'],
    );
  });

  test('lists call sites and not the message above them, however many lines it has', () => {
    const { at } = errorRecord(new Error('hunter2\n    at hunter2'));
    ok(at && at.length > 0 && at.length <= 8);
    for (const line of at) match(line, /:\d+:\d+\)?$/);
    ok(!JSON.stringify(at).includes('hunter2'));
  });

  test('follows causes, by the same rules, to a bounded depth', () => {
    const error = new Error('outer', { cause: databaseError() });
    equal(errorRecord(error).cause?.type, 'PostgresError');
    ok(!JSON.stringify(errorRecord(error)).includes('hunter2'));
    const circle = new Error('circle');
    circle.cause = circle;
    ok(JSON.stringify(errorRecord(circle)).length < 20_000);
  });

  test('of a thrown value that is not an error is only its type', () => {
    deepEqual(errorRecord('hunter2'), { type: 'string' });
    deepEqual(errorRecord({ message: 'hunter2' }), { type: 'object' });
    deepEqual(errorRecord(undefined), { type: 'undefined' });
  });
});

test('an error in place of the fields becomes a record', () => {
  const text = JSON.stringify(redacted(new RangeError('hunter2') as unknown as Record<string, unknown>));
  ok(text.includes('"type":"RangeError"') && !text.includes('hunter2'), text);
});
