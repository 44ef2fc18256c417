import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DeviceKey, queueOf, queuesServed } from './queue-key.ts';

const run = (needs: string, sealedBy: string | null = null) => {
  return { orgId: 'org_a' as const, method: 'wf_1' as const, needs, keyId: 'key_1' as const, sealedBy };
};
const served = (features: string[], deviceKeys: DeviceKey[] = []) =>
  queuesServed('org_a', { methods: ['wf_1'], features, deviceKeys }).map(({ method }) => method);

test('a run is in the queue of its method and of the features it needs', () => {
  assert.deepEqual(queueOf(run('')), { orgId: 'org_a', method: 'wf_1' });
  assert.deepEqual(queueOf(run('browser,python')), { orgId: 'org_a', method: 'wf_1+browser,python' });
});

test('a worker serves every subset of its special features, and no other set', () => {
  assert.deepEqual(served(['node', 'http', 'ask']), ['wf_1']);
  assert.deepEqual(served(['node', 'shell', 'python', 'made-up']), [
    'wf_1',
    'wf_1+python',
    'wf_1+shell',
    'wf_1+python,shell',
  ]);
});

test('a worker that has all features of a version serves it', () => {
  const all = ['agent', 'answer_policies', 'browser', 'python', 'shell'];
  const queues = new Set(served([...all].reverse()));
  assert.equal(queues.size, 32);
  for (const needs of ['agent', 'agent,shell', 'answer_policies,python', 'browser,python,shell', all.join(',')]) {
    assert.ok(queues.has(queueOf(run(needs)).method), needs);
  }
});

test('a run in device mode is in the queue of its service key and its content key, which only their holders serve', () => {
  const [mine, other] = ['aa', 'bb'].map((byte) => byte.repeat(16)) as [string, string];
  const keys = [{ keyId: 'key_1' as const, fingerprint: mine }];
  assert.deepEqual(served(['python'], keys), [
    'wf_1',
    'wf_1+python',
    `wf_1@key_1.${mine}`,
    `wf_1+python@key_1.${mine}`,
  ]);
  assert.ok(served(['python'], keys).includes(queueOf(run('python', mine)).method));
  assert.ok(!served(['python'], keys).includes(queueOf(run('', other)).method), 'sealed by a wrong content part');
  assert.ok(!served(['python']).includes(queueOf(run('', mine)).method));
});
