import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BeatWatch } from './beat-watch.ts';

const SILENT_MS = 3_000;
const beat = (nodeId: string, count: number, leaving = false) => ({
  nodeId,
  peerAddress: `${nodeId}:1`,
  beat: count,
  leaving,
});
const ids = (watch: BeatWatch) => watch.members().map(({ nodeId }) => nodeId);

test('a node is silent when its beat shows no new value, however often the old one is seen', () => {
  const watch = new BeatWatch(SILENT_MS, 0);
  assert.equal(watch.observe(beat('a', 7), 'bucket', 0), true);
  for (let nowMs = 0; nowMs <= SILENT_MS; nowMs += 500) watch.observe(beat('a', 7), 'rows', nowMs);
  assert.deepEqual(watch.silent(SILENT_MS - 1), []);
  assert.deepEqual(watch.silent(SILENT_MS), ['a']);
  assert.equal(watch.observe(beat('a', 8), 'rows', SILENT_MS), false);
  assert.deepEqual(watch.silent(SILENT_MS), []);
});

test('a beat in flight when its sender died does not bring it back, two later ones do', () => {
  const watch = new BeatWatch(SILENT_MS, 0);
  watch.observe(beat('a', 7), 'bucket', 0);
  assert.equal(watch.suspect('a'), true);
  assert.equal(watch.suspect('a'), false);
  assert.equal(watch.observe(beat('a', 8), 'bucket', 1), false);
  assert.deepEqual([ids(watch), watch.alive(), watch.gone()], [[], [], ['a']]);
  assert.equal(watch.observe(beat('a', 9), 'bucket', 1_000), true);
  assert.deepEqual([ids(watch), watch.alive(), watch.gone()], [['a'], ['a'], []]);
});

test('an old entry does not count as life at first sight, its next beat does', () => {
  const watch = new BeatWatch(SILENT_MS, 0);
  assert.equal(watch.observe(beat('a', 7), 'rows', 0, false), false);
  assert.deepEqual(watch.gone(), ['a']);
  assert.equal(watch.observe(beat('a', 8), 'rows', 10), true);
  assert.deepEqual(ids(watch), ['a']);
});

test('an observer that could not receive counts silence only from when it could', () => {
  const watch = new BeatWatch(SILENT_MS, 0);
  watch.observe(beat('a', 1), 'bucket', 0);
  watch.deaf(60_000);
  assert.deepEqual(watch.silent(60_000 + SILENT_MS - 1), []);
  assert.deepEqual(watch.silent(60_000 + SILENT_MS), ['a']);
});

test('a leaving node is not a member, keeps its shards for a while although it beats, and may come back', () => {
  const watch = new BeatWatch(SILENT_MS, 0);
  watch.observe(beat('a', 1), 'bucket', 0);
  assert.equal(watch.observe(beat('a', 2, true), 'bucket', 1_000), true);
  assert.deepEqual([ids(watch), watch.alive()], [[], ['a']]);
  watch.observe(beat('a', 3, true), 'bucket', 3_900);
  assert.deepEqual(watch.silent(3_999), []);
  assert.deepEqual(watch.silent(4_000), ['a']);
  assert.equal(watch.observe(beat('a', 4), 'bucket', 4_100), true);
  assert.deepEqual(ids(watch), ['a']);
});

test('a node known to be leaving remains so although an earlier beat of it arrives', () => {
  const watch = new BeatWatch(SILENT_MS, 0);
  watch.observe(beat('a', 1), 'bucket', 0);
  assert.equal(watch.leaving('a', 10), true);
  assert.equal(watch.observe(beat('a', 2), 'bucket', 20), false);
  assert.deepEqual(ids(watch), []);
});

test('the bucket counts as missing beats as soon as one alive node shows only elsewhere', () => {
  const watch = new BeatWatch(SILENT_MS, 0);
  watch.observe(beat('a', 1), 'bucket', 0);
  watch.observe(beat('b', 1), 'bucket', 0);
  watch.observe(beat('a', 2), 'bucket', 1_900);
  watch.observe(beat('b', 2), 'rows', 1_900);
  assert.equal(watch.missingInBucket(1_999, 2_000), false);
  assert.equal(watch.missingInBucket(2_000, 2_000), true);
  watch.suspect('b');
  assert.equal(watch.missingInBucket(2_000, 2_000), false);
});
