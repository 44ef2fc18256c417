import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomToken } from '@methods/base/ids';
import { assignShards } from './assignment.ts';

const SHARDS = 256;

function counts(owners: readonly string[]): number[] {
  const byNode = new Map<string, number>();
  for (const owner of owners) byNode.set(owner, (byNode.get(owner) ?? 0) + 1);
  return [...byNode.values()];
}

test('every node computes the same owners, for any order of the list', () => {
  assert.deepEqual(assignShards(SHARDS, ['a', 'b', 'c']), assignShards(SHARDS, ['c', 'a', 'b', 'a']));
});

test('one node owns everything and no node owns nothing', () => {
  assert.deepEqual(counts(assignShards(SHARDS, ['a'])), [SHARDS]);
  assert.deepEqual(assignShards(SHARDS, []), []);
});

test('shards are spread evenly over random node ids', () => {
  for (const nodes of [2, 3, 5]) {
    for (let round = 0; round < 50; round++) {
      const shares = counts(assignShards(SHARDS, Array.from({ length: nodes }, randomToken)));
      const fair = SHARDS / nodes;
      assert.equal(shares.length, nodes);
      // Six standard deviations of a fair draw.
      const bound = 6 * Math.sqrt(fair * (1 - 1 / nodes));
      for (const share of shares) assert.ok(Math.abs(share - fair) < bound, `${share} of ${fair}`);
    }
  }
});

test('a joining node takes only what it wins and moves nothing between the others', () => {
  const before = assignShards(SHARDS, ['a', 'b', 'c']);
  const after = assignShards(SHARDS, ['a', 'b', 'c', 'd']);
  let moved = 0;
  for (let shard = 0; shard < SHARDS; shard++) {
    if (after[shard] === before[shard]) continue;
    assert.equal(after[shard], 'd');
    moved++;
  }
  assert.ok(moved > SHARDS / 8 && moved < SHARDS / 2, `${moved} moved`);
});

test('two nodes agree on a shard between them although only one of them knows a third', () => {
  const wide = assignShards(SHARDS, ['a', 'b', 'c']);
  const narrow = assignShards(SHARDS, ['a', 'b']);
  for (let shard = 0; shard < SHARDS; shard++) if (wide[shard] !== 'c') assert.equal(narrow[shard], wide[shard]);
});
