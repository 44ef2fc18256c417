import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { StepErrorSchema } from '@methods/proto/run/v1/run_pb';
import { errorOf } from './step-error.ts';

const told = (more: object) => errorOf(create(StepErrorSchema, { kind: 'http', message: 'no', status: 503, ...more }));

test("an HTTP server's response is cut to its bounds and kept without NUL", () => {
  const said = { reason: 'Busy', headers: { 'retry-after': '3', a: 'x'.repeat(300) }, body: 'a\0b' };
  assert.deepEqual(told(said), {
    kind: 'http',
    message: 'no',
    status: 503,
    line: 0,
    reason: 'Busy',
    headers: { 'retry-after': '3' },
    body: 'a\ufffdb',
  });
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`h${i}`, 'x']));
  assert.equal(Object.keys(told({ headers: many }).headers ?? {}).length, 20);
  assert.ok(!('body' in told({ body: 'x'.repeat(1025) })));
});

test('an error of a worker that sends no response is unchanged', () => {
  assert.deepEqual(told({}), { kind: 'http', message: 'no', status: 503, line: 0 });
});
