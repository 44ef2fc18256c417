import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { type TestNats, testNats } from '@methods/test/harness/nats';
import { until } from '@methods/test/harness/until';
import { elapsedMs, TestCluster } from './cluster.fixture.ts';
import { SHARDS, type TestNode } from './node.fixture.ts';

describe('shard owners', () => {
  let nats: TestNats;
  let cluster: TestCluster;

  before(async () => {
    nats = await testNats();
  });
  after(() => nats.stop());
  beforeEach(async () => {
    cluster = await TestCluster.open(nats.url);
  });
  afterEach(() => cluster.close());

  test('a single node owns every shard, starts runs on them in turn, and knows no other owner', async () => {
    const [a] = (await cluster.join('a')) as [TestNode];
    await cluster.settled([a]);
    assert.equal(new Set(Array.from({ length: SHARDS }, () => a.owner.nextStartShard())).size, SHARDS);
    assert.equal(a.owner.ownerOf(17), a.nodeId);
    assert.equal(a.owner.epochOf(17), 1);
  });

  test('three nodes split the shards and agree on the owners', async () => {
    const nodes = await cluster.three();
    for (const node of nodes) {
      for (const other of nodes) {
        await until('the owner is known', () =>
          other.owner.owned().every((shard) => node.owner.ownerOf(shard) === other.nodeId),
        );
      }
    }
  });

  test('the shards of a node that stops cleanly have new owners before any beat is missed', async () => {
    const [a, b, c] = await cluster.three();
    const theirs = b.owner.owned();
    cluster.slowClocks();
    void b.stop();
    await cluster.settledWithoutWaiting([a, c]);
    assert.deepEqual(new Set(b.released), new Set(theirs));
    assert.deepEqual(b.lost, []);
  });

  test('the shards of a killed node have new owners before its beats are missed', async () => {
    const [a, b, c] = await cluster.three();
    cluster.slowClocks();
    void a.kill();
    await cluster.settledWithoutWaiting([b, c]);
  });

  test('a frozen node loses its shards after 3 s, notices it when it continues, and gets its share back', async () => {
    const [a, b, c] = await cluster.three();
    const before = new Map(b.owner.owned().map((shard) => [shard, b.owner.epochOf(shard)]));
    // Measured from before its last beat: the machine may be slow between that and the end of the beats.
    const ms = await elapsedMs(async () => {
      await cluster.hasBeaten(b);
      b.clock.freeze();
      await until('the others have them', () => a.owner.owned().length + c.owner.owned().length === SHARDS);
    });
    assert.ok(ms > 2_900, `${ms} ms is too early`);
    b.clock.thaw();
    await until('it has learnt', () => [...before].every(([shard, epoch]) => b.owner.epochOf(shard) !== epoch));
    await cluster.shared([a, b, c]);
    for (const [shard, epoch] of before) assert.ok((b.owner.epochOf(shard) ?? Number.POSITIVE_INFINITY) > (epoch ?? 0));
  });

  test('a joining node gets its share by a planned move', async () => {
    const [a, b] = (await cluster.join('a', 'b')) as [TestNode, TestNode];
    await cluster.shared([a, b]);
    const [c] = (await cluster.join('c')) as [TestNode];
    await cluster.shared([a, b, c]);
    const moved = new Set([...a.released, ...b.released]);
    assert.deepEqual(moved, new Set(c.owner.owned()));
    assert.deepEqual([...a.lost, ...b.lost], []);
  });

  test('a node started after all others were killed takes over without waiting for their beats', async () => {
    const [a] = (await cluster.join('a')) as [TestNode];
    await cluster.settled([a]);
    await a.kill();
    cluster.slowClocks();
    const [b] = (await cluster.join('b')) as [TestNode];
    await cluster.settledWithoutWaiting([b]);
  });

  test('shards settle again each time nodes come and go', async () => {
    let nodes = await cluster.join('a', 'b', 'c');
    await cluster.shared(nodes);
    for (const leave of ['stop', 'kill', 'stop', 'kill'] as const) {
      const [leaver, ...others] = nodes as [TestNode, ...TestNode[]];
      const [, joined] = await Promise.all([leaver[leave](), cluster.join(leave)]);
      nodes = [...others, ...joined];
      await cluster.shared(nodes);
    }
  });

  test('a refused commit drops exactly that lease, and the node tries again only later', async () => {
    const [a] = (await cluster.join('a')) as [TestNode];
    await cluster.settled([a]);
    // If the beats of a former node arrive late, the change of members ends the wait: one of several tries must show
    // it.
    let longestMs = 0;
    for (let epoch = 2; epoch < 10 && longestMs < 2_500; epoch += 2) {
      await cluster.sql`update scheduler.shards set epoch = ${epoch}, owner = 'thief' where shard = 5`;
      a.lost.length = 0;
      const ms = await elapsedMs(async () => {
        a.owner.lost([
          { shard: 5, epoch: 99 },
          { shard: 6, epoch: 0 },
        ]);
        assert.deepEqual(a.lost, [5], 'a lease that was renewed since is kept');
        assert.equal(a.owner.epochOf(5), null);
        await until('it is taken back', () => a.owner.epochOf(5) === epoch + 1);
      });
      longestMs = Math.max(longestMs, ms);
    }
    assert.ok(longestMs >= 2_500, `${longestMs} ms`);
  });

  test('after an ambiguous commit the shards have new epochs, and those that another owner took are lost', async () => {
    const [a] = (await cluster.join('a')) as [TestNode];
    await cluster.settled([a]);
    await cluster.sql`update scheduler.shards set epoch = 40, owner = 'thief' where shard = 8`;
    await a.owner.bump([7, 8, 9]);
    assert.deepEqual(
      [7, 8, 9].map((shard) => a.owner.epochOf(shard)),
      [2, null, 2],
    );
    assert.deepEqual(a.lost, [8]);
  });

  test('a row that wrongly names a node as owner is released for the right one', async () => {
    const [a, b] = (await cluster.join('a', 'b')) as [TestNode, TestNode];
    await cluster.shared([a, b]);
    const [shard] = a.owner.owned() as [number];
    // As if a take of b had been committed after b gave up waiting for it.
    await cluster.sql`update scheduler.shards set epoch = epoch + 1, owner = ${b.nodeId} where shard = ${shard}`;
    await until('a has lost it', () => a.lost.includes(shard));
    await until('a has it again', () => a.owner.owns(shard));
    await cluster.settled([a, b]);
  });
});
