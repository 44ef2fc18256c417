import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { ManualClock } from '../manual-clock.fixture.ts';
import type { QueueKey } from '../store/run-store.ts';
import type { ClaimOffer } from './claim-waiters.ts';
import { CountedWaiters } from './counted-waiters.fixture.ts';
import type { QueueHead } from './ready-runs.ts';

const mail: QueueKey = { orgId: 'org_a' as const, method: 'wf_mail' as const };
const bill: QueueKey = { orgId: 'org_a' as const, method: 'wf_bill' as const };

function head(queuedAtMs: number, depth = 1): QueueHead {
  return { queuedAtMs, depth, runId: `run_${queuedAtMs}` as const };
}

describe('free places of workers', () => {
  let clock: ManualClock;
  let sent: (ClaimOffer & { nodeId: string })[];
  let unreachable: Set<string>;
  let interests: string[][];
  let waiters: CountedWaiters;

  beforeEach(() => {
    clock = new ManualClock();
    sent = [];
    unreachable = new Set();
    interests = [];
    waiters = new CountedWaiters({
      nodeId: 'here',
      clock,
      send(nodeId, offer) {
        if (unreachable.has(nodeId)) return false;
        sent.push({ ...offer, nodeId });
        return true;
      },
      interestChanged: () => interests.push(waiters.interest().map((key) => key.method)),
    });
  });

  function takeSent(): (ClaimOffer & { nodeId: string })[] {
    return sent.splice(0);
  }

  test('a place goes to the node whose queue has the oldest run', () => {
    waiters.register('w.1', [mail]);
    waiters.headChanged('a', mail, head(200));
    waiters.headChanged('b', mail, head(100));
    waiters.addCredits('w.1', 1);
    assert.deepEqual(
      sent.map((offer) => offer.nodeId),
      ['b'],
    );
  });

  test('of all queues a worker serves, the one with the oldest run comes first', () => {
    waiters.register('w.1', [mail, bill]);
    waiters.headChanged('a', mail, head(200));
    waiters.headChanged('a', bill, head(100));
    waiters.addCredits('w.1', 1);
    assert.equal(sent[0]?.key.method, 'wf_bill');
  });

  test('a place is offered even if the work arrives after it', () => {
    waiters.register('w.1', [mail]);
    waiters.addCredits('w.1', 1);
    assert.deepEqual(sent, []);
    waiters.headChanged('a', mail, head(100));
    assert.equal(sent.length, 1);
    assert.equal(waiters.freePlaces(), 0);
  });

  test('no queue gets more offers than the runs it has announced', () => {
    waiters.register('w.1', [mail]);
    waiters.headChanged('a', mail, head(100, 2));
    waiters.addCredits('w.1', 5);
    assert.equal(sent.length, 2);
    assert.equal(waiters.freePlaces(), 3);
  });

  test('an owner whose queue is always full cannot take all places from another owner', () => {
    waiters.register('w.1', [mail]);
    let fullSinceMs = 100;
    waiters.headChanged('full', mail, head(fullSinceMs, 256));
    waiters.headChanged('other', mail, head(104.5));
    const served: string[] = [];
    for (let round = 0; round < 10; round++) {
      waiters.addCredits('w.1', 1);
      for (const { nodeId, creditId } of takeSent()) {
        served.push(nodeId);
        waiters.used(creditId);
        // Each run taken uncovers a younger one; the other owner has only one.
        if (nodeId === 'full') waiters.headChanged('full', mail, head(++fullSinceMs, 256));
        else waiters.headChanged('other', mail, null);
      }
    }
    assert.equal(served.length, 10);
    assert.equal(served.indexOf('other'), 5);
  });

  test('workers of one queue take turns', () => {
    waiters.register('w.1', [mail]);
    waiters.register('v.1', [mail]);
    waiters.addCredits('w.1', 2);
    waiters.addCredits('v.1', 2);
    waiters.headChanged('a', mail, head(100));
    waiters.used(takeSent()[0]?.creditId ?? 0);
    waiters.headChanged('a', mail, head(200));
    assert.equal(sent[0]?.workerSession, 'v.1');
  });

  test('a place that brought no run is free again', () => {
    waiters.register('w.1', [mail]);
    waiters.headChanged('a', mail, head(100));
    waiters.addCredits('w.1', 1);
    const [offer] = takeSent();
    waiters.headChanged('a', mail, null);
    waiters.returned(offer?.creditId ?? 0);
    assert.equal(waiters.freePlaces(), 1);
    waiters.headChanged('b', mail, head(300));
    assert.equal(sent[0]?.nodeId, 'b');
  });

  test('a place that its owner had no run for waits for another head than the one that sent it there', () => {
    waiters.register('w.1', [mail]);
    waiters.headChanged('a', mail, head(100));
    waiters.addCredits('w.1', 1);
    const [offer] = takeSent();
    waiters.emptyHanded(offer?.creditId ?? 0);
    assert.equal(sent.length, 0);
    assert.equal(waiters.freePlaces(), 1);
    waiters.headChanged('a', mail, head(200));
    assert.equal(sent[0]?.nodeId, 'a');
  });

  test('a place returned twice is one place', () => {
    waiters.register('w.1', [mail]);
    waiters.headChanged('a', mail, head(100));
    waiters.addCredits('w.1', 1);
    const [offer] = takeSent();
    waiters.headChanged('a', mail, null);
    waiters.returned(offer?.creditId ?? 0);
    waiters.returned(offer?.creditId ?? 0);
    assert.equal(waiters.freePlaces(), 1);
  });

  test('a used place is taken until the worker announces it again', () => {
    waiters.register('w.1', [mail]);
    waiters.headChanged('a', mail, head(100));
    waiters.addCredits('w.1', 1);
    waiters.used(takeSent()[0]?.creditId ?? 0);
    clock.forward(5_000);
    waiters.sweep();
    assert.equal(waiters.freePlaces(), 0);
  });

  test('a place without a reply for a second is offered again', () => {
    waiters.register('w.1', [mail]);
    waiters.headChanged('a', mail, head(100));
    waiters.addCredits('w.1', 1);
    takeSent();
    clock.forward(1_000);
    waiters.sweep();
    assert.deepEqual(sent, []);
    clock.forward(1);
    waiters.sweep();
    assert.equal(sent.length, 1);
  });

  test('a run announced after all known runs were offered a place gets one as soon as an offer is used', () => {
    waiters.register('w.1', [mail]);
    waiters.addCredits('w.1', 2);
    waiters.headChanged('a', mail, head(100));
    const [offer] = takeSent();
    waiters.headChanged('a', mail, head(200));
    assert.deepEqual(sent, []);
    waiters.used(offer?.creditId ?? 0);
    assert.equal(sent.length, 1);
  });

  test('a run whose offer was for a departed worker goes to another one', () => {
    waiters.register('w.1', [mail]);
    waiters.addCredits('w.1', 1);
    waiters.headChanged('a', mail, head(100));
    const [offer] = takeSent();
    waiters.register('v.1', [mail]);
    waiters.addCredits('v.1', 1);
    waiters.unregister('w.1');
    assert.deepEqual(sent, []);
    waiters.returned(offer?.creditId ?? 0);
    assert.equal(takeSent()[0]?.workerSession, 'v.1');
  });

  test('a grant that arrives after its offer expired takes the place that became free', () => {
    waiters.register('w.1', [mail]);
    waiters.headChanged('a', mail, head(100));
    waiters.addCredits('w.1', 1);
    const [offer] = takeSent();
    waiters.headChanged('a', mail, null);
    clock.forward(1_001);
    waiters.sweep();
    assert.equal(waiters.freePlaces(), 1);
    assert.equal(waiters.used(offer?.creditId ?? 0), false);
    waiters.filled('w.1');
    assert.equal(waiters.freePlaces(), 0);
  });

  test('the places offered to a dead node go to the next one', () => {
    waiters.register('w.1', [mail]);
    waiters.headChanged('dead', mail, head(100));
    waiters.headChanged('alive', mail, head(200));
    waiters.addCredits('w.1', 1);
    assert.equal(takeSent()[0]?.nodeId, 'dead');
    waiters.nodeGone('dead');
    assert.equal(takeSent()[0]?.nodeId, 'alive');
  });

  test('a node that cannot be reached loses its claim to the place, and the place is kept', () => {
    waiters.register('w.1', [mail]);
    unreachable.add('a');
    waiters.headChanged('a', mail, head(100));
    waiters.headChanged('b', mail, head(200));
    waiters.addCredits('w.1', 1);
    assert.deepEqual(
      sent.map((offer) => offer.nodeId),
      ['b'],
    );
  });

  test('a run that starts here gets a free place at once, unless older runs wait or no worker is free', () => {
    waiters.register('w.1', [mail]);
    assert.equal(waiters.reserve(mail), null);
    waiters.addCredits('w.1', 1);
    waiters.headChanged('a', bill, head(100));
    assert.equal(waiters.reserve(mail)?.workerSession, 'w.1');
    assert.equal(waiters.reserve(mail), null);
    waiters.headChanged('a', mail, head(100));
    waiters.addCredits('w.1', 3);
    assert.equal(waiters.reserve(mail), null);
  });

  test('nodes are notified of requested queues: with the first worker of a queue, and five seconds after its last', () => {
    waiters.register('w.1', [mail]);
    waiters.register('v.1', [mail, bill]);
    waiters.unregister('w.1');
    waiters.unregister('v.1');
    assert.deepEqual(interests, [['wf_mail'], ['wf_mail', 'wf_bill']]);
    clock.forward(5_000);
    waiters.sweep();
    assert.deepEqual(interests.slice(2), [[]]);
  });

  test('a worker that connects and leaves in a loop causes no notification', () => {
    for (let stream = 0; stream < 50; stream++) {
      waiters.register(`w.${stream}`, [mail, bill]);
      waiters.unregister(`w.${stream}`);
      clock.forward(1_000);
      waiters.sweep();
    }
    assert.equal(interests.length, 1);
  });

  test('thousands of places and thousands of queues are matched with one look at each', () => {
    const queues = Array.from({ length: 10_000 }, (_, i) => ({ orgId: 'org_a' as const, method: `wf_${i}` as const }));
    waiters.register('w.1', queues);
    for (const [i, key] of queues.entries()) waiters.headChanged('a', key, head(10_000 - i));
    const before = process.cpuUsage();
    waiters.addCredits('w.1', 10_000);
    const { user } = process.cpuUsage(before);
    assert.equal(sent.length, 10_000);
    assert.deepEqual([sent[0]?.key.method, sent.at(-1)?.key.method], ['wf_9999', 'wf_0']);
    assert.ok(user < 2_000_000, `${user} µs`);
  });

  test('a departed worker gets nothing, not even a place that is returned', () => {
    waiters.register('w.1', [mail]);
    waiters.headChanged('a', mail, head(100));
    waiters.addCredits('w.1', 2);
    const [offer] = takeSent();
    waiters.unregister('w.1');
    waiters.returned(offer?.creditId ?? 0);
    waiters.headChanged('a', mail, head(200));
    assert.deepEqual(sent, []);
    assert.equal(waiters.freePlaces(), 0);
  });

  test('the head of a queue without workers is not kept', () => {
    waiters.headChanged('a', mail, head(100));
    waiters.register('w.1', [mail]);
    waiters.addCredits('w.1', 1);
    assert.deepEqual(sent, []);
  });
});
