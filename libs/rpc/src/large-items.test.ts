import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LargeItems } from './large-items.ts';

/** A peer that reads on demand. */
function slowPeer() {
  const sent: string[] = [];
  const peer = {
    bufferedBytes: 0,
    send(item: { text: string }, bytes = 0) {
      sent.push(item.text.slice(0, 2));
      peer.bufferedBytes += bytes;
      return true;
    },
  };
  return { peer, sent };
}

const large = (name: string, bytes = 100) => ({ text: name.padEnd(bytes) });

describe('large items of a stream that organizations share', () => {
  test('wait for the peer in turn by organization, each in its order, and small ones of others pass them', () => {
    const { peer, sent } = slowPeer();
    const items = new LargeItems(peer, { largeBytes: 50, unreadBytesMax: 100, waitingBytesMax: 1_000 });
    for (let i = 0; i < 4; i++) equal(items.send('org_a', large(`a${i}`)), 'sent');
    equal(items.send('org_b', large('b0')), 'sent');
    for (const orgId of ['org_a', 'org_c', ''] as const)
      equal(items.send(orgId, { text: `s${orgId.slice(4)}` }), 'sent');
    deepEqual(sent, ['a0', 'sc', 's']);
    for (let i = 0; i < 5; i++) {
      peer.bufferedBytes = 0;
      items.taken();
    }
    deepEqual(sent, ['a0', 'sc', 's', 'a1', 'b0', 'a2', 'a3', 'sa']);
  });

  test('refuse one more of an organization that has too much waiting, and accept one of another', () => {
    const { peer } = slowPeer();
    const items = new LargeItems(peer, { largeBytes: 50, unreadBytesMax: 1, waitingBytesMax: 250 });
    const results = Array.from({ length: 4 }, () => items.send('org_a', large('org_a')));
    deepEqual(results, ['sent', 'sent', 'sent', 'full']);
    equal(items.send('org_b', large('org_b')), 'sent');
  });

  test('never have more unread than the bound and one item', () => {
    const { peer } = slowPeer();
    const items = new LargeItems(peer, { largeBytes: 50, unreadBytesMax: 1_000 });
    for (let i = 0; i < 100; i++) items.send(`org_${i}`, large('x', 400));
    ok(peer.bufferedBytes <= 1_000 + 410);
  });
});
