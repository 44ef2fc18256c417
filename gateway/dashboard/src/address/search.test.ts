import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anySearch, parseSearch, stringifySearch } from './search.ts';

test('a change that empties a name removes it', () => {
  const changed = { status: 'failed', last: '1h', created_after: null, text: '', page: undefined };
  assert.deepEqual(anySearch(changed), { status: 'failed', last: '1h' });
  assert.equal(stringifySearch(changed), '?status=failed&last=1h');
});

test('an address is read as it was written', () => {
  const search = { 'metadata.order': 'a=b&c', text: '+ %' };
  assert.deepEqual(parseSearch(stringifySearch(search)), search);
  assert.equal(stringifySearch({}), '');
});
