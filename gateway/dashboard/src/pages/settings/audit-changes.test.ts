import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { changesOf } from './audit-changes.ts';

test('names each field whose value changed, with both values', () => {
  deepEqual(changesOf({ role: 'member', name: 'Ada' }, { role: 'admin', name: 'Ada' }), [
    { name: 'role', before: 'member', after: 'admin' },
  ]);
});

test('a field that was made or removed has one value', () => {
  deepEqual(changesOf(null, { days: 30 }), [{ name: 'days', before: null, after: '30' }]);
  deepEqual(changesOf({ hosts: ['a'] }, {}), [{ name: 'hosts', before: '["a"]', after: null }]);
  deepEqual(changesOf(null, null), []);
});
