import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileCacheOf } from './node-arguments.ts';

test('what is compiled is kept beside built code, and never in a folder of sources', () => {
  assert.deepEqual(compileCacheOf(new URL('file:///built/services.main.mjs')), {
    NODE_COMPILE_CACHE: '/built/compiled',
  });
  assert.deepEqual(compileCacheOf(new URL('file:///checkout/services/main.ts')), {});
});
