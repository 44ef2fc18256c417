import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMask } from './mask.ts';
import { runMask } from './run-mask.ts';

test('the steps of a run return 200 values of the type secret, over all its methods', () => {
  const declared = new Map<string, string>();
  const mask = runMask(declared, createMask(declared));
  const called = mask.over(declared, createMask(declared));
  for (let n = 0; n < 200; n++) (n % 2 === 0 ? mask : called).learn('token', `secret-${n}`);
  called.learn('token', 'secret-0');
  assert.throws(() => mask.learn('token', 'secret-200'), { kind: 'limit' });
  assert.equal(mask.text('secret-199'), '***token***');
});
