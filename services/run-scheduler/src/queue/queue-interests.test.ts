import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { runs } from '../run/run.fixture.ts';
import { QueueInterests } from './queue-interests.ts';
import type { ReadyRuns } from './ready-runs.ts';

const [A, B] = [
  { orgId: 'org_a', method: 'wf_a' },
  { orgId: 'org_a', method: 'wf_b' },
] as const;

describe('which nodes have workers for which queues', () => {
  let kept: string[];
  let told: string[];
  let interests: QueueInterests;

  beforeEach(() => {
    kept = [];
    told = [];
    const ready: Pick<ReadyRuns, 'wanted' | 'unwanted'> = {
      wanted: ({ method }) => kept.includes(method) || kept.push(method),
      unwanted: ({ method }) => {
        kept = kept.filter((name) => name !== method);
      },
    } as Pick<ReadyRuns, 'wanted' | 'unwanted'>;
    interests = new QueueInterests({
      ready: () => ready as ReadyRuns,
      tell: (nodeId, { method }) => told.push(`${nodeId} ${method}`),
    });
  });

  test('a head is announced only to the nodes that asked for the queue', () => {
    interests.peerAsks('one', [A, B]);
    interests.peerAsks('two', [B]);
    interests.announce(A, null);
    interests.announce(B, null);
    interests.announce({ orgId: 'org_b', method: 'wf_a' }, null);
    assert.deepEqual(told, ['one wf_a', 'one wf_b', 'two wf_b']);
  });

  test('a queued run says what its workers lack: the content key, a feature, or that there are none', () => {
    const [mine, other] = ['aa', 'bb'].map((byte) => byte.repeat(16)) as [string, string];
    const why = (change: object) => interests.whyQueued({ ...runs.fresh, facts: { ...runs.fresh.facts, ...change } });
    assert.equal(why({ sealedBy: mine }), 'no_worker');
    interests.peerAsks('one', [A, { ...A, method: `wf_a@key_a.${other}` }]);
    assert.equal(why({ sealedBy: mine }), 'key_missing');
    assert.equal(why({ sealedBy: mine, needs: 'python' }), 'feature_missing');
    assert.equal(why({ sealedBy: null }), null);
    interests.peerAsks('two', [A, { ...A, method: `wf_a@key_a.${mine}` }]);
    assert.equal(why({ sealedBy: mine }), null);
    assert.equal(why({ sealedBy: mine, keyId: 'key_b' }), 'key_missing');
  });

  test('a queue is kept for as long as any node asks for it', () => {
    interests.peerAsks('one', [A, B]);
    interests.peerAsks('two', [B]);
    interests.peerAsks('one', [A]);
    assert.deepEqual(kept, ['wf_a', 'wf_b']);
    interests.nodeGone('two');
    assert.deepEqual(kept, ['wf_a']);
    interests.peerAsks('one', []);
    assert.deepEqual(kept, []);
    interests.announce(A, null);
    assert.deepEqual(told, []);
  });
});
