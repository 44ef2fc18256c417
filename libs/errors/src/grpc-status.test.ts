import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { create, toBinary } from '@bufbuild/protobuf';
import { Metadata, status } from '@grpc/grpc-js';
import { ErrorDetailSchema } from '@methods/proto/error/v1/error_detail_pb';
import fc from 'fast-check';
import { catalog, type ErrorCode } from './catalog.ts';
import { fromGrpcError, toGrpcError } from './grpc-status.ts';
import { type Finding, ServiceError } from './service-error.ts';

const TRAILER = 'methods-error-bin';
const CODES = Object.keys(catalog) as ErrorCode[];

const place = fc.integer({ min: 1, max: 2 ** 32 - 1 });
const finding: fc.Arbitrary<Finding> = fc.record(
  {
    path: fc.string(),
    code: fc.string(),
    message: fc.string({ unit: 'grapheme' }),
    line: place,
    column: place,
    endLine: place,
    endColumn: place,
    severity: fc.constantFrom('error', 'warning'),
    hint: fc.string({ minLength: 1 }),
  },
  { requiredKeys: ['path', 'code', 'message'], noNullPrototype: true },
);

function trailerBytes(error: unknown): Buffer {
  const [bytes] = toGrpcError(error).metadata.get(TRAILER);
  ok(Buffer.isBuffer(bytes));
  return bytes;
}

describe('an error over gRPC', () => {
  test('comes back with its code, message, findings, facts and wait', () => {
    const anyError = fc.record({
      code: fc.constantFrom(...CODES.filter((code) => code !== 'internal')),
      message: fc.string({ unit: 'grapheme', minLength: 1 }),
      findings: fc.array(finding, { maxLength: 5 }),
      facts: fc.dictionary(fc.stringMatching(/^[a-z_]{1,20}$/), fc.string(), { noNullPrototype: true }),
      retryAfterMs: fc.option(fc.integer({ min: 1, max: 3_600_000 }), { nil: undefined }),
    });
    fc.assert(
      fc.property(anyError, ({ code, message, ...rest }) => {
        const back = fromGrpcError(toGrpcError(new ServiceError(code, message, rest)));
        deepEqual(
          { code: back.code, message: back.message, findings: back.findings, facts: back.facts },
          { code, message, findings: rest.findings, facts: rest.facts },
        );
        equal(back.retryAfterMs, rest.retryAfterMs);
      }),
    );
  });

  test('has the status of its code and only the code in the status line', () => {
    for (const code of CODES) {
      const { code: grpc, details } = toGrpcError(new ServiceError(code, 'A sentence.'));
      deepEqual([grpc, details], [status[catalog[code].grpc], code]);
    }
  });

  test('holds no details if it is not one of ours', () => {
    for (const error of [
      new Error('hunter2'),
      'hunter2',
      { message: 'hunter2' },
      null,
      new ServiceError('internal', 'hunter2', { facts: { a: 'hunter2' }, cause: new Error('hunter2') }),
    ]) {
      const sent = toGrpcError(error);
      equal(sent.code, status.INTERNAL);
      ok(!trailerBytes(error).includes('hunter2'));
      ok(!sent.details.includes('hunter2'));
    }
  });

  test('never sends its cause', () => {
    ok(!trailerBytes(new ServiceError('unavailable', undefined, { cause: new Error('hunter2') })).includes('hunter2'));
  });

  test('always fits into a trailer', () => {
    const findings = Array.from({ length: 5_000 }, (_, i) => ({ path: `/steps/${i}`, code: 'M1', message: 'Wrong.' }));
    const facts = { long: 'x'.repeat(100_000) };
    for (const error of [
      new ServiceError('invalid_method', 'x'.repeat(1_000_000)),
      new ServiceError('invalid_method', undefined, { findings }),
      new ServiceError('invalid_method', undefined, { findings, facts }),
    ]) {
      ok(trailerBytes(error).length <= 24 * 1024);
      equal(fromGrpcError(toGrpcError(error)).code, 'invalid_method');
    }
    const kept = fromGrpcError(toGrpcError(new ServiceError('invalid_method', undefined, { findings }))).findings;
    ok(kept.length > 100);
    deepEqual(kept, findings.slice(0, kept.length));
  });
});

describe('a failed call without our trailer', () => {
  const received = (code: status, trailer?: Buffer) => {
    const metadata = new Metadata();
    if (trailer) metadata.set(TRAILER, trailer);
    return fromGrpcError(Object.assign(new Error('14 UNAVAILABLE: connect 10.0.0.1'), { code, metadata }));
  };

  test('is unavailable when the peer is unavailable or too slow, or the call was cancelled', () => {
    for (const code of [status.UNAVAILABLE, status.DEADLINE_EXCEEDED, status.CANCELLED]) {
      equal(received(code).code, 'unavailable');
    }
  });

  test('is too_large or unauthorized if the status is, and internal otherwise', () => {
    equal(received(status.RESOURCE_EXHAUSTED).code, 'too_large');
    equal(received(status.UNAUTHENTICATED).code, 'unauthorized');
    for (const code of [status.UNKNOWN, status.UNIMPLEMENTED, status.INTERNAL, status.DATA_LOSS]) {
      equal(received(code).code, 'internal');
    }
  });

  test('does not repeat the text of the other side', () => {
    equal(received(status.UNAVAILABLE).message, catalog.unavailable.title);
  });

  test('is judged by its status if the trailer cannot be read', () => {
    equal(received(status.UNAVAILABLE, Buffer.from([0xff, 0xff, 0xff])).code, 'unavailable');
  });

  test("is internal if a newer peer's code is unknown here", () => {
    const detail = toBinary(ErrorDetailSchema, create(ErrorDetailSchema, { code: 'not_yet_known', message: 'x' }));
    equal(received(status.NOT_FOUND, Buffer.from(detail)).code, 'internal');
  });

  test('is internal for other than gRPC errors, with the original as its cause', () => {
    const cause = new Error('bug');
    const error = fromGrpcError(cause);
    deepEqual([error.code, error.cause], ['internal', cause]);
  });

  test('is unchanged when it is already ours', () => {
    const error = new ServiceError('not_found');
    equal(fromGrpcError(error), error);
  });
});
