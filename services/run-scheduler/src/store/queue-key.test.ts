import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queueOf, queuesServed } from './queue-key.ts';

const run = (needs: string) => ({ orgId: 'org_a' as const, method: 'wf_1' as const, needs });

test('a run is in the queue of its method and of the features it needs', () => {
  assert.deepEqual(queueOf(run('')), { orgId: 'org_a', method: 'wf_1' });
  assert.deepEqual(queueOf(run('browser,python')), { orgId: 'org_a', method: 'wf_1+browser,python' });
});

test('a worker serves every subset of its special features, and no other set', () => {
  const names = (features: string[]) => queuesServed('org_a', ['wf_1'], features).map(({ method }) => method);
  assert.deepEqual(names(['node', 'http', 'ask']), ['wf_1']);
  assert.deepEqual(names(['node', 'shell', 'python', 'made-up']), [
    'wf_1',
    'wf_1+python',
    'wf_1+shell',
    'wf_1+python,shell',
  ]);
});

test('a worker that has all features of a version serves it', () => {
  const all = ['agent', 'answer_policies', 'browser', 'python', 'shell'];
  const served = new Set(queuesServed('org_a', ['wf_1'], [...all].reverse()).map(({ method }) => method));
  assert.equal(served.size, 32);
  for (const needs of ['agent', 'agent,shell', 'answer_policies,python', 'browser,python,shell', all.join(',')]) {
    assert.ok(served.has(queueOf(run(needs)).method), needs);
  }
});
