// The nodes of one test on a database of their own, and the checks that every test makes.
import assert from 'node:assert/strict';
import { randomToken } from '@methods/base/ids';
import { openPool, type Sql } from '@methods/postgres/pool';
import { migratedDatabase } from '@methods/test/harness/migrated-database';
import { type FreshDatabase, testPostgres } from '@methods/test/harness/postgres';
import { until } from '@methods/test/harness/until';
import { SHARDS, TestNode } from './node.fixture.ts';

const SLOW = 15;
/** A node that beat a second ago is missed after two more of the slow ones. */
const SOONER_THAN_BEATS_MS = 25_000;

export class TestCluster {
  readonly sql: Sql;
  private readonly nodes: TestNode[] = [];
  private slow = false;

  private constructor(
    private readonly database: FreshDatabase,
    private readonly natsUrl: string,
  ) {
    this.sql = openPool({ url: database.url, applicationName: 'test', max: 4, statementTimeoutMs: 60_000 });
  }

  static async open(natsUrl: string): Promise<TestCluster> {
    const database = await migratedDatabase('run-scheduler');
    return new TestCluster(database, natsUrl);
  }

  /** Called after every test: checks that no lease was ever given twice. */
  async close(): Promise<void> {
    const leases = this.nodes.flatMap(({ taken }) => taken);
    await Promise.all(this.nodes.map((node) => node.kill()));
    await this.sql.end({ timeout: 1 });
    await this.database.drop();
    assert.equal(new Set(leases).size, leases.length);
  }

  async join(...names: string[]): Promise<TestNode[]> {
    return Promise.all(names.map((name) => this.start(name, 0)));
  }

  /** Starts a new process at the address of a former one. */
  restart(former: TestNode): Promise<TestNode> {
    return this.start('again', former.server.port);
  }

  // Uses new ids every time: the bucket still has the beats of the previous test.
  private start(name: string, port: number): Promise<TestNode> {
    const node = new TestNode(this.database.url, this.natsUrl, `${name}-${randomToken()}`, port);
    this.nodes.push(node);
    if (this.slow) node.clock.slowDown(SLOW);
    return node.start();
  }

  async three(): Promise<[TestNode, TestNode, TestNode]> {
    const [a, b, c] = (await this.join('a', 'b', 'c')) as [TestNode, TestNode, TestNode];
    await this.shared([a, b, c]);
    await until('all links are up', () => [a, b, c].every(({ links }) => links.connected().length === 2));
    return [a, b, c];
  }

  /** Slows the clocks of all nodes, including later ones: three seconds without a beat now take half a minute. */
  slowClocks(): void {
    this.slow = true;
    for (const { clock } of this.nodes) clock.slowDown(SLOW);
  }

  /** Ends every session of this database and refuses new ones until the returned function is called. */
  async closePostgres(): Promise<() => Promise<void>> {
    const admin = openPool({
      url: (await testPostgres()).url,
      applicationName: 'test',
      max: 1,
      statementTimeoutMs: 60_000,
    });
    const name = new URL(this.database.url).pathname.slice(1);
    await admin`alter database ${admin(name)} allow_connections false`;
    await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`;
    return async () => {
      await admin`alter database ${admin(name)} allow_connections true`;
      await admin.end({ timeout: 1 });
    };
  }

  /** Reports whether each shard is owned by exactly one of these nodes, under the epoch in its row. */
  async whole(nodes: readonly TestNode[]): Promise<boolean> {
    if (nodes.reduce((sum, { owner }) => sum + owner.owned().length, 0) !== SHARDS) return false;
    const rows = await this.sql<{ shard: number; epoch: number; owner: string | null; released: boolean }[]>`
      select shard, epoch, owner, released from scheduler.shards`;
    return rows.every(({ shard, epoch, owner, released }) =>
      nodes.some((node) => node.nodeId === owner && node.owner.epochOf(shard) === epoch && !released),
    );
  }

  settled(nodes: readonly TestNode[], withinMs?: number): Promise<true> {
    return until('every shard has one owner', () => this.whole(nodes), withinMs);
  }

  /** Waits until its next beat is in its row, and so on its way to the others. */
  async hasBeaten({ nodeId }: TestNode): Promise<void> {
    const beat = async () => {
      const [row] = await this.sql<{ beat: number }[]>`
        select beat::int as beat from scheduler.nodes where node_id = ${nodeId}`;
      return row?.beat ?? 0;
    };
    const last = await beat();
    await until(`${nodeId} has beaten`, async () => (await beat()) > last);
  }

  /** With slow clocks: sooner than any node's beats could be missed. */
  settledWithoutWaiting(nodes: readonly TestNode[]): Promise<true> {
    return this.settled(nodes, SOONER_THAN_BEATS_MS);
  }

  shared(nodes: readonly TestNode[]): Promise<true> {
    const least = SHARDS / nodes.length / 2;
    return until(
      'every node has its share',
      async () => nodes.every(({ owner }) => owner.owned().length > least) && (await this.whole(nodes)),
    );
  }
}

export async function elapsedMs(work: () => Promise<unknown>): Promise<number> {
  const startedAtMs = performance.now();
  await work();
  return performance.now() - startedAtMs;
}
