import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { catalog, type ErrorCode } from './catalog.ts';
import { errorBody } from './error-body.ts';
import { ServiceError } from './service-error.ts';

const CODES = Object.keys(catalog) as ErrorCode[];
const waiting = (code: ErrorCode) => catalog[code].http === 429 || catalog[code].http === 503;

describe('the JSON reply of an error', () => {
  test('is the code, the message and the request id', () => {
    deepEqual(errorBody(new ServiceError('not_found', 'There is no such run.'), 'req_1'), {
      status: 404,
      headers: {},
      body: { error: 'not_found', message: 'There is no such run.', request_id: 'req_1' },
    });
  });

  test('has the status and the title of its code', () => {
    for (const code of CODES) {
      const { status, body } = errorBody(new ServiceError(code), 'req_1');
      equal(status, catalog[code].http);
      if (code === 'unauthorized') continue;
      deepEqual(body, { error: code, message: catalog[code].title, request_id: 'req_1' });
    }
  });

  test('of a 401 holds only the code', () => {
    const error = new ServiceError('unauthorized', 'The key was revoked yesterday.', {
      facts: { key: 'key_1' },
      findings: [{ path: '', code: 'revoked', message: 'Revoked.' }],
    });
    const { status, headers, body } = errorBody(error, 'req_1');
    equal(status, 401);
    equal(JSON.stringify(body), '{"error":"unauthorized"}');
    deepEqual(headers, { 'www-authenticate': 'Bearer' });
  });

  test('of an internal error holds only the request id', () => {
    const error = new ServiceError('internal', 'password hunter2', {
      facts: { password: 'hunter2' },
      findings: [{ path: '', code: 'x', message: 'hunter2' }],
      cause: new Error('hunter2'),
    });
    deepEqual(errorBody(error, 'req_1').body, {
      error: 'internal',
      message: catalog.internal.title,
      request_id: 'req_1',
    });
  });

  test('names every finding in details, in snake case', () => {
    const error = new ServiceError('invalid_method', undefined, {
      findings: [
        { path: '/a', code: 'M1', message: 'One.', line: 1, column: 2, endLine: 3, endColumn: 4, hint: 'Do.' },
        { path: '', code: 'M2', message: 'Two.' },
      ],
    });
    const { details } = errorBody(error, 'req_1').body as { details: object[] };
    deepEqual(details, [
      { path: '/a', code: 'M1', message: 'One.', line: 1, column: 2, hint: 'Do.', end_line: 3, end_column: 4 },
      { path: '', code: 'M2', message: 'Two.' },
    ]);
  });

  test('carries facts beside the code, and a fact cannot replace a field', () => {
    const facts = { current_version: 'ver_1', sequence: '7', error: 'x', message: 'x', request_id: 'x' };
    deepEqual(errorBody(new ServiceError('version_conflict', 'Old.', { facts }), 'req_1').body, {
      current_version: 'ver_1',
      sequence: 7,
      error: 'version_conflict',
      message: 'Old.',
      request_id: 'req_1',
    });
  });

  test('has Retry-After for 429 and 503 and for nothing else', () => {
    for (const code of CODES)
      equal('retry-after' in errorBody(new ServiceError(code), 'r').headers, waiting(code), code);
  });

  test('Retry-After is in whole seconds, at least the wait and spread by at most half', () => {
    const header = (retryAfterMs: number | undefined, random: number) =>
      Number(
        errorBody(new ServiceError('unavailable', undefined, { retryAfterMs }), 'r', () => random).headers[
          'retry-after'
        ],
      );
    equal(header(undefined, 0), 1);
    equal(header(0, 0), 1);
    equal(header(1, 0), 1);
    equal(header(1_001, 0), 2);
    equal(header(60_000, 0), 60);
    equal(header(60_000, 0.999), 90);
    const drawn = Array.from({ length: 100 }, () =>
      Number(
        errorBody(new ServiceError('rate_limited', undefined, { retryAfterMs: 60_000 }), 'r').headers['retry-after'],
      ),
    );
    ok(drawn.every((waitS) => Number.isInteger(waitS) && waitS >= 60 && waitS <= 90));
    ok(new Set(drawn).size > 1, 'callers do not come back together');
  });
});
