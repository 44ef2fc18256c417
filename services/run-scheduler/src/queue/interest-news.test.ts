import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { until } from '@methods/test/harness/until';
import { ManualClock } from '../manual-clock.fixture.ts';
import type { QueueKey } from '../store/run-store.ts';
import { InterestNews, type InterestPart } from './interest-news.ts';
import { QueueInterests } from './queue-interests.ts';
import type { ReadyRuns } from './ready-runs.ts';

function queues(count: number): QueueKey[] {
  return Array.from({ length: count }, (_, i) => ({ orgId: 'org_a', method: `wf_${i}` }));
}

describe('notifications of the queues asked for', () => {
  let clock: ManualClock;
  let interest: QueueKey[];
  let kept: Set<string>;
  let here: QueueInterests;
  let sent: InterestPart[];
  let news: InterestNews;

  beforeEach(() => {
    clock = new ManualClock();
    interest = [];
    kept = new Set();
    sent = [];
    const ready = {
      wanted: ({ method }: QueueKey) => kept.add(method),
      unwanted: ({ method }: QueueKey) => kept.delete(method),
    } as unknown as ReadyRuns;
    here = new QueueInterests({ ready: () => ready, tell: () => {} });
    news = new InterestNews({
      clock,
      interest: () => interest,
      changedHere: (change) => here.changed('here', change),
      peers: () => ['peer'],
      send: (_peer, part) => sent.push(part) > 0,
    });
  });

  test('a long list is sent in parts, and the other side keeps exactly its entries', async () => {
    const other = new QueueInterests({
      ready: () =>
        ({
          wanted: (key: QueueKey) => kept.add(key.method),
          unwanted: (key: QueueKey) => kept.delete(key.method),
        }) as unknown as ReadyRuns,
      tell: () => {},
    });
    other.peerAsks('node', [{ orgId: 'org_a', method: 'wf_gone' }, ...queues(10)]);
    interest = queues(10_000);
    news.tell('peer');
    await until('all parts are sent', () => sent.at(-1)?.more === false);
    assert.deepEqual(
      sent.map(({ queues: part, whole, more }) => [part.length, whole, more]),
      [
        [4_000, true, true],
        [4_000, false, true],
        [2_000, false, false],
      ],
    );
    for (const part of sent) {
      assert.ok(kept.has('wf_gone') && kept.has('wf_9'));
      other.peerAsks('node', part.queues, part);
    }
    assert.deepEqual([kept.size, kept.has('wf_gone'), kept.has('wf_9999')], [10_000, false, true]);
    other.nodeGone('node');
    assert.equal(kept.size, 0);
  });

  test('a peer gets one list and then the last one, for any number of changes', async () => {
    for (let change = 1; change <= 20; change++) {
      interest = queues(change);
      news.changed({ added: queues(change).slice(-1), removed: [] });
    }
    await until('the first is sent', () => sent.length === 1);
    interest = queues(21);
    clock.forward(250);
    await until('the last is sent', () => sent.length === 2);
    clock.forward(10_000);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual([sent.length, sent[1]?.queues.length], [2, 21]);
  });

  test("this node's own queues get all changes in order, a part of them a turn", async () => {
    const all = queues(5_000);
    news.changed({ added: all, removed: [] });
    assert.equal(kept.size, 2_000);
    news.changed({ added: [], removed: all.slice(0, 4_999) });
    news.changed({ added: all.slice(0, 1), removed: [] });
    await until('all is heard', () => kept.size === 2);
    assert.deepEqual([...kept].sort(), ['wf_0', 'wf_4999']);
  });
});
