import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { type TestNats, testNats } from '@methods/test/harness/nats';
import { elapse, until } from '@methods/test/harness/until';
import { TestCluster } from './cluster.fixture.ts';
import type { TestNode } from './node.fixture.ts';

// The parts that beats depend on fail one by one and together; live nodes must not take each other for dead.
describe('membership', () => {
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

  test('with NATS absent from the start nodes find each other, move shards and notice a death', async () => {
    await nats.kill();
    try {
      const [a, b, c] = await cluster.three();
      cluster.slowClocks();
      await b.stop();
      await cluster.settledWithoutWaiting([a, c]);
      void c.kill();
      await cluster.settledWithoutWaiting([a]);
    } finally {
      await nats.restart();
    }
  });

  test('losing NATS and getting it back empty moves no shard', async () => {
    const nodes = await cluster.three();
    const owned = nodes.map(({ owner }) => owner.owned());
    await nats.kill();
    const lateBeat = () => cluster.sql<{ beat: number }[]>`select min(beat)::int as beat from scheduler.nodes`;
    const from = (await lateBeat())[0]?.beat ?? 0;
    await until('all have beaten four times more', async () => ((await lateBeat())[0]?.beat ?? 0) > from + 4);
    assert.deepEqual(
      nodes.map(({ owner }) => owner.owned()),
      owned,
    );
    await nats.wipe();
    await until('all have beaten again', async () => ((await lateBeat())[0]?.beat ?? 0) > from + 8);
    assert.deepEqual(
      nodes.map(({ owner }) => owner.owned()),
      owned,
    );
    assert.deepEqual(
      nodes.flatMap(({ lost }) => lost),
      [],
    );
    for (const { membership } of nodes) assert.equal(membership.members().length, 3);
  });

  test('losing only Postgres, for longer than a node may be silent, moves no shard', async () => {
    const nodes = await cluster.three();
    const owned = nodes.map(({ owner }) => owner.owned());
    const open = await cluster.closePostgres();
    await until('all count as cut off', () => nodes.every(({ membership }) => membership.members().length === 1));
    await open();
    await until('all are members again', () => nodes.every(({ membership }) => membership.members().length === 3));
    assert.deepEqual(
      nodes.map(({ owner }) => owner.owned()),
      owned,
    );
    assert.equal(await cluster.whole(nodes), true);
  });

  test('no node is suspected when NATS and Postgres are lost together, even after Postgres is back', async () => {
    const nodes = await cluster.three();
    const fewest = nodes.map(() => 3);
    for (const [i, { membership }] of nodes.entries()) {
      membership.onChange(() => {
        fewest[i] = Math.min(fewest[i] ?? 0, membership.members().length);
      });
    }
    await nats.kill();
    const open = await cluster.closePostgres();
    // Twice as long as a node may be silent.
    await elapse(6_000);
    await open();
    const beats = () => cluster.sql<{ beat: number }[]>`select min(beat)::int as beat from scheduler.nodes`;
    const before = (await beats())[0]?.beat ?? 0;
    await until('all have beaten five times more', async () => ((await beats())[0]?.beat ?? 0) > before + 5);
    assert.deepEqual(fewest, [3, 3, 3]);
    assert.equal(await cluster.whole(nodes), true);
    await nats.restart();
  });

  test('only the node that is cut off from Postgres gives its shards to the others', async () => {
    const [a, b, c] = await cluster.three();
    await b.cutOffFromPostgres();
    await cluster.settled([a, c]);
    await until('it knows', () => b.owner.owned().length === 0);
  });

  test('a process restarted at the same address knows that its predecessor is gone', async () => {
    const [a] = (await cluster.join('a')) as [TestNode];
    await cluster.settled([a]);
    await a.kill();
    cluster.slowClocks();
    const again = await cluster.restart(a);
    await cluster.settledWithoutWaiting([again]);
  });
});
