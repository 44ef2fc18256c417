import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ListedRun } from '../../api/shapes.ts';
import { isNewer, isOfFilter, withChangedRun } from './new-runs.ts';

function run(id: string, changed: object = {}): ListedRun {
  const timing = { created_at: '2026-11-25T12:00:00.000Z', started_at: null, finished_at: null };
  const facts = { run_id: id, method: 'wf_a', version_id: 'ver_1', status: 'running', metadata: {}, timing };
  return { ...facts, ...changed } as ListedRun;
}

const list = {
  pages: [
    { items: [run('run_2'), run('run_1')], next_cursor: 'x' },
    { items: [run('run_0', { status: 'failed', error: { code: 'step_failed', message: 'no' } })], next_cursor: null },
  ],
  pageParams: ['', 'x'],
};

test('a run changes where it is, and what only the list knows of it stays', () => {
  const changed = withChangedRun(list, run('run_0', { status: 'failed', error: { code: 'step_failed' } }));
  assert.deepEqual(changed?.pages[1]?.items[0]?.error, { code: 'step_failed', message: 'no' });
  assert.equal(changed?.pages[0], list.pages[0]);
  assert.equal(withChangedRun(list, run('run_9')), null);
});

test('a new run gathers only where the list would show it', () => {
  const { status, metadata } = run('run_9', { metadata: { order: '712' } });
  assert.ok(isOfFilter(run('run_9', { status, metadata }), { method: 'a', 'metadata.order': '712' }));
  assert.ok(!isOfFilter(run('run_9'), { 'metadata.order': '712' }));
  assert.ok(!isOfFilter(run('run_9'), { status: 'failed' }));
  assert.ok(!isOfFilter(run('run_9'), { created_before: '2026-11-25T12:00:00.000Z' }));
});

test('a run is newer by its time, and then by its id', () => {
  assert.ok(isNewer(run('run_3'), run('run_2')));
  assert.ok(!isNewer(run('run_2'), run('run_2')));
  const later = run('run_0', { timing: { created_at: '2026-11-25T12:00:00.001Z' } });
  assert.ok(isNewer(later, run('run_2')));
  assert.ok(isNewer(run('run_0'), undefined));
});
