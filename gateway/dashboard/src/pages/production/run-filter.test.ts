import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bulkFilter, filterCount, filterQuery, typedPair, withFixedTime, withoutFilters } from './run-filter.ts';

const NOW_MS = Date.parse('2026-11-25T12:00:00Z');

test('a relative time becomes a time at the moment of the call, and stays relative in the address', () => {
  assert.deepEqual(filterQuery({ last: '1h', status: 'failed' }, NOW_MS), {
    status: 'failed',
    created_after: '2026-11-25T11:00:00.000Z',
  });
  const fixed = { last: '1h', created_after: '2026-11-01T00:00:00Z' };
  assert.deepEqual(filterQuery(fixed, NOW_MS), { created_after: '2026-11-01T00:00:00Z' });
  assert.deepEqual(filterQuery({ last: 'forever' }, NOW_MS), {});
});

test('only the names of filters are sent, and a time is one filter', () => {
  const search = { tab: 'x', 'metadata.order': '712', 'metadata.__proto__': 'x', method: 'wf_1' };
  assert.deepEqual(filterQuery(search, NOW_MS), { 'metadata.order': '712', method: 'wf_1' });
  assert.equal(filterCount({ created_after: '2026-11-01', created_before: '2026-11-02', status: 'failed' }), 2);
  assert.equal(filterCount({}), 0);
  assert.deepEqual(withoutFilters(search), { 'metadata.order': null, method: null });
});

test('a time that is none, as after a mistake in an address, is no filter', () => {
  const search = { created_after: 'null', created_before: 'yesterday', status: 'failed' };
  assert.deepEqual(filterQuery(search, NOW_MS), { status: 'failed' });
  assert.equal(filterCount(search), 1);
});

test('a change of many runs takes the same filter, its metadata apart', () => {
  assert.deepEqual(bulkFilter({ status: 'queued', 'metadata.a': '1', 'metadata.b': '2' }, NOW_MS), {
    status: 'queued',
    metadata: { a: '1', b: '2' },
  });
  assert.deepEqual(bulkFilter({}, NOW_MS), {});
});

test('a pair of the metadata is typed as key=value', () => {
  assert.deepEqual(typedPair(' order=7=12 '), { name: 'metadata.order', value: '7=12' });
  for (const text of ['order', '=x', 'order=', '__proto__=x', 'a b=c']) assert.equal(typedPair(text), null, text);
});

test('a link that someone opens later has a fixed time', () => {
  const after = new Date(NOW_MS - 3_600_000).toISOString();
  assert.deepEqual(withFixedTime({ status: 'failed', last: '1h' }, NOW_MS), { status: 'failed', created_after: after });
  assert.deepEqual(withFixedTime({ last: 'ever', text: 'x' }, NOW_MS), { text: 'x' });
  assert.deepEqual(withFixedTime({ created_before: after }, NOW_MS), { created_before: after });
});
