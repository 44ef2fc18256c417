import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Door, doorTo } from '@methods/test/harness/database-door';
import { type OwnPostgres, startTestPostgres } from '@methods/test/harness/postgres';
import { elapse, until } from '@methods/test/harness/until';
import { isPassingFault } from './database-fault.ts';
import { withDeadline } from './deadline.ts';
import { openPool, type Sql } from './pool.ts';

const CONNECTIONS = 3;
const STATEMENT_MS = 300;
/** The longest a query may take to fail: its own deadline, or that of a silent connection. */
const DEADLINE_MS = 400;

describe('a pool whose server stalls', () => {
  let server: OwnPostgres;
  let door: Door;
  let sql: Sql;
  let beside: Sql;
  const pool = (url: string, name: string) =>
    openPool({
      url,
      applicationName: name,
      max: CONNECTIONS,
      statementTimeoutMs: STATEMENT_MS,
      connectTimeoutMs: 1_000,
      waitingMax: 50,
    });

  before(async () => {
    server = await startTestPostgres({ max_connections: '12' });
    door = await doorTo(server.url);
    sql = pool(door.url, 'stalled');
    beside = pool(server.url, 'beside');
    await beside`create table marks (id int generated always as identity, place text)`;
  });
  after(async () => {
    await sql.end({ timeout: 1 });
    await beside.end({ timeout: 1 });
    await door.shut();
    await server.stop();
  });

  /** The outcome of each query, none of which takes much longer than its deadline. */
  async function outcomes(queries: readonly PromiseLike<unknown>[]): Promise<unknown[]> {
    const beganMs = performance.now();
    const settled = await Promise.allSettled(queries);
    assert.ok(performance.now() - beganMs < 50 * DEADLINE_MS, 'a query outlived its deadline');
    return settled.filter((one) => one.status === 'rejected').map((one) => one.reason);
  }

  const hurried = (text: string) => withDeadline(sql.unsafe(text), DEADLINE_MS);

  /** Queries in flight and waiting for a place, and transactions: everything that a stall can affect. */
  const load = () => [
    ...Array.from({ length: 20 }, () => hurried('select 1')),
    ...Array.from({ length: 5 }, () =>
      withDeadline(
        sql.begin((tx) => tx`insert into marks (place) values ('stall')`),
        DEADLINE_MS,
      ),
    ),
  ];

  /** Every connection answers, at the same time. */
  async function allConnectionsWork(): Promise<boolean> {
    const rows = await Promise.all(
      Array.from(
        { length: CONNECTIONS },
        () => sql<{ pid: number }[]>`select pg_backend_pid() as pid from pg_sleep(0.05)`,
      ),
    ).catch(() => []);
    return new Set(rows.map(([row]) => row?.pid)).size === CONNECTIONS;
  }

  async function recovers(): Promise<void> {
    await until('all connections work', allConnectionsWork);
    const before = await beside`select count(*)::int as n from marks`;
    await elapse(2 * DEADLINE_MS);
    assert.deepEqual(
      [...(await beside`select count(*)::int as n from marks`)],
      [...before],
      'nothing runs after its caller was refused',
    );
  }

  test('every process of the server is stopped: callers are refused in time, and all connections come back', async () => {
    await until('all connections work', allConnectionsWork);
    server.freeze();
    try {
      // Longer than any limit of a connection, so that connections in progress have failed as well.
      for (const endMs = performance.now() + 3_000; performance.now() < endMs; ) {
        const errors = await outcomes(load());
        assert.equal(errors.length, 25);
        assert.ok(errors.every(isPassingFault), String(errors.find((error) => !isPassingFault(error))));
      }
    } finally {
      server.thaw();
    }
    await recovers();
  });

  test('a link that carries nothing any more has the same effect', async () => {
    await until('all connections work', allConnectionsWork);
    door.stall();
    for (const endMs = performance.now() + 2_000; performance.now() < endMs; ) {
      const errors = await outcomes(load());
      assert.equal(errors.length, 25);
      assert.ok(errors.every(isPassingFault), String(errors.find((error) => !isPassingFault(error))));
    }
    door.flow();
    await recovers();
  });

  test('queries beyond the bound are refused at once, and those before it are served', async () => {
    const all = await Promise.allSettled(Array.from({ length: 500 }, () => sql`select 1`));
    const refused = all.filter((one) => one.status === 'rejected').map((one) => one.reason);
    assert.equal(refused.length, 500 - CONNECTIONS - 50);
    assert.ok(refused.every(isPassingFault));
  });
});
