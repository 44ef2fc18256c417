import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { openPool, type Sql } from '@methods/postgres/pool';
import { migratedDatabase } from '@methods/test/harness/migrated-database';
import type { FreshDatabase } from '@methods/test/harness/postgres';
import { until } from '@methods/test/harness/until';
import { ShardCountMismatch, ShardLease } from './shard-lease.ts';

const ALL = Array.from({ length: 32 }, (_, shard) => shard);
const nobody = { alive: [], gone: [] };

describe('shard leases', () => {
  let database: FreshDatabase;
  let sql: Sql;
  let a: ShardLease;
  let b: ShardLease;

  before(async () => {
    database = await migratedDatabase('run-scheduler');
    sql = openPool({ url: database.url, applicationName: 'test', max: 8, statementTimeoutMs: 60_000 });
    a = new ShardLease({ sql, nodeId: 'a' });
    b = new ShardLease({ sql, nodeId: 'b' });
  });
  after(async () => {
    await sql.end({ timeout: 1 });
    await database.drop();
  });
  beforeEach(() => a.ensureShards(ALL.length));
  afterEach(() => sql`truncate scheduler.shards, scheduler.nodes`);

  const beat = (nodeId: string, age: string) => sql`
    insert into scheduler.nodes (node_id, peer_address, beat, seen_at)
    values (${nodeId}, 'nowhere:1', 1, clock_timestamp() - ${age}::interval)`;

  test('the rows are created once, by any number of nodes at once, and their number is fixed', async () => {
    await sql`truncate scheduler.shards`;
    await Promise.all([a, b, a, b].map((lease) => lease.ensureShards(ALL.length)));
    const [row] = await sql<{ count: number }[]>`select count(*)::int as count from scheduler.shards`;
    assert.equal(row?.count, ALL.length);
    await assert.rejects(a.ensureShards(64), ShardCountMismatch);
  });

  test('only free shards are taken: never owned, released, owned by a node that is gone, or its own', async () => {
    assert.deepEqual(
      await a.take([3, 0, 1, 2], nobody),
      [0, 1, 2, 3].map((shard) => ({ shard, epoch: 1 })),
    );
    await a.release([{ shard: 1, epoch: 1 }]);
    assert.deepEqual(await b.take([0, 1, 2, 9], { alive: ['a'], gone: [] }), [
      { shard: 1, epoch: 2 },
      { shard: 9, epoch: 1 },
    ]);
    assert.deepEqual(await b.take([2], { alive: [], gone: ['a'] }), [{ shard: 2, epoch: 2 }]);
    assert.deepEqual(await a.take([3], { alive: ['a', 'b'], gone: [] }), [{ shard: 3, epoch: 2 }]);
  });

  test('an unknown owner keeps its shards while its row of beats is young', async () => {
    await a.take([0], nobody);
    await beat('a', '2 seconds');
    assert.deepEqual(await b.take([0], nobody), []);
    assert.deepEqual(await b.take([0], { alive: [], gone: ['a'] }), [{ shard: 0, epoch: 2 }]);
    await beat('b', '20 seconds');
    assert.deepEqual(await a.take([0], nobody), [{ shard: 0, epoch: 3 }]);
  });

  test('a lease is released and renewed only under its own epoch', async () => {
    await a.take([0, 1, 2], nobody);
    await b.take([1], { alive: [], gone: ['a'] });
    const held = [0, 1, 2].map((shard) => ({ shard, epoch: 1 }));
    assert.deepEqual(await a.bump(held), [
      { shard: 0, epoch: 2 },
      { shard: 2, epoch: 2 },
    ]);
    assert.deepEqual(
      await a.release([
        { shard: 0, epoch: 1 },
        { shard: 1, epoch: 2 },
        { shard: 2, epoch: 2 },
      ]),
      [2],
    );
    assert.deepEqual(await a.release([{ shard: 2, epoch: 2 }]), [], 'a repeat finds it released');
    assert.deepEqual(await a.mine(), [{ shard: 0, epoch: 2 }]);
    assert.deepEqual(await b.mine(), [{ shard: 1, epoch: 2 }]);
  });

  test('a new epoch waits for the statement under the old one, and gives up if that never ends', async () => {
    await a.take([5], nobody);
    let finish = () => {};
    let holding = false;
    const commit = sql.begin(async (tx) => {
      await tx`set local idle_in_transaction_session_timeout = 0`;
      await tx`select shard from scheduler.shards where shard = 5 for share`;
      holding = true;
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
    });
    await until('it holds its lock', () => holding);
    const hasty = new ShardLease({ sql, nodeId: 'a', lockTimeoutMs: 50 });
    await assert.rejects(hasty.bump([{ shard: 5, epoch: 1 }]), { code: '55P03' });
    let bumped = false;
    const bump = a.bump([{ shard: 5, epoch: 1 }]).then((leases) => {
      bumped = true;
      return leases;
    });
    await hasty.mine();
    assert.equal(bumped, false);
    finish();
    await commit;
    assert.deepEqual(await bump, [{ shard: 5, epoch: 2 }]);
  });

  test('two nodes that compete for all shards never get the same epoch, and do not deadlock with commits', async () => {
    const leases: string[] = [];
    let fighting = true;
    const fight = async (lease: ShardLease, other: string) => {
      for (let round = 0; round < 120; round++) {
        const taken = await lease.take(ALL, { alive: [], gone: [other] });
        for (const { shard, epoch } of taken) leases.push(`${shard}/${epoch}`);
        if (round % 3 === 0) await lease.bump(taken);
        if (round % 5 === 0) await lease.release(taken);
      }
    };
    let commits = 0;
    const commit = async () => {
      while (fighting) {
        const some = ALL.filter(() => Math.random() < 0.5);
        await sql`select shard from scheduler.shards where shard = any(${some}::smallint[]) order by shard for share`;
        commits++;
      }
    };
    const committing = [commit(), commit()];
    await Promise.all([fight(a, 'b'), fight(b, 'a')]).finally(() => {
      fighting = false;
    });
    await Promise.all(committing);
    assert.equal(new Set(leases).size, leases.length);
    assert.ok(leases.length > 3_000 && commits > 100, `${leases.length} leases, ${commits} commits`);
  });
});
