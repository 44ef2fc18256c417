import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type OwnPostgres, startTestPostgres } from '@methods/test/harness/postgres';
import { elapse, until } from '@methods/test/harness/until';
import { openPool, type Sql } from './pool.ts';

const CONNECTIONS = 4;

describe('a pool through outages', () => {
  let server: OwnPostgres;
  let sql: Sql;

  before(async () => {
    server = await startTestPostgres();
    sql = openPool({ url: server.url, applicationName: 'outage-test', max: CONNECTIONS, statementTimeoutMs: 500 });
    await sql`create table marks (id int generated always as identity, place text)`;
  });
  after(async () => {
    await sql.end({ timeout: 1 });
    await server.stop();
  });

  const works = () =>
    sql`select 1`.then(
      () => true,
      () => false,
    );
  /** Every connection of the pool answers, at the same time. */
  const allConnectionsWork = async () => {
    const rows = await Promise.all(
      Array.from(
        { length: CONNECTIONS },
        () => sql<{ pid: number }[]>`select pg_backend_pid() as pid from pg_sleep(0.2)`,
      ),
    ).catch(() => []);
    return new Set(rows.map(([row]) => row?.pid)).size === CONNECTIONS;
  };

  test('closes a connection whose server process became silent, and keeps working with others', async () => {
    let pid = 0;
    const began = performance.now();
    const silent = sql.begin(async (transaction) => {
      const [row] = await transaction<{ pid: number }[]>`select pg_backend_pid() as pid`;
      pid = row?.pid as number;
      process.kill(pid, 'SIGSTOP');
      await transaction`select 2`;
    });
    try {
      await assert.rejects(silent, (error: { code?: string }) => /^CONNECTION_(SILENT|CLOSED)$/.test(error.code ?? ''));
      const elapsed = performance.now() - began;
      assert.ok(elapsed > 1000 && elapsed < 60_000, `${elapsed} ms`);
      assert.equal((await sql`select 3 as three`)[0]?.three, 3);
    } finally {
      // It finds its connection closed and ends. (A killed one would make the server restart all sessions.)
      process.kill(pid, 'SIGCONT');
    }
  });

  test('keeps connections that answer, slowly or after idling', async () => {
    const [before] = await sql`select pg_backend_pid() as pid`;
    assert.equal((await sql`select pg_sleep(0.02) from generate_series(1, 8)`).length, 8);
    // Longer than the watch over silence, with nothing owed.
    await elapse(1700);
    const known = await sql`select pid from pg_stat_activity where application_name = 'outage-test'`;
    assert.ok(known.some((row) => row.pid === before?.pid));
  });

  test('runs no query of a transaction whose connection was lost', async () => {
    const later: unknown[] = [];
    await assert.rejects(
      sql.begin(async (transaction) => {
        await transaction`insert into marks (place) values ('first')`;
        // The session's own limit ends an idle transaction after 1 s.
        await elapse(1300);
        for (let tries = 0; tries < 3; tries++) {
          await transaction`insert into marks (place) values ('outside')`.catch((error: unknown) => later.push(error));
        }
      }),
    );
    await until('the queries were refused', () => later.length === 3);
    assert.deepEqual([...(await sql`select place from marks`)], []);
  });

  test('rolls back and keeps working when the work of a transaction fails', async () => {
    await assert.rejects(
      sql.begin(async (transaction) => {
        await transaction`insert into marks (place) values ('undone')`;
        throw new Error('of the work');
      }),
      /of the work/,
    );
    const kept = await sql.begin(async (transaction) => {
      await transaction`insert into marks (place) values ('kept')`;
      await transaction.savepoint(async (inner) => inner`select 1/0`).catch(() => {});
      return transaction`select place from marks`;
    });
    assert.deepEqual(
      kept.map((row) => row.place),
      ['kept'],
    );
  });

  test('survives killed sessions and a killed server under load, with all its connections', async () => {
    let loading = true;
    let succeeded = 0;
    const load = Array.from({ length: 24 }, async (_, lane) => {
      while (loading) {
        const work =
          lane % 2 === 0
            ? sql`select 1`
            : sql.begin(async (transaction) => {
                await transaction`insert into marks (place) values ('load')`;
                await transaction`select pg_sleep(0.001)`;
              });
        await Promise.resolve(work).then(
          () => succeeded++,
          () => new Promise((resolve) => setTimeout(resolve, 5)),
        );
      }
    });
    const admin = () => openPool({ url: server.url, applicationName: 'admin', max: 1, statementTimeoutMs: 60_000 });
    for (let round = 0; round < 6; round++) {
      const before = succeeded;
      if (round % 3 === 2) {
        await server.stop('SIGKILL');
        server = await server.again();
      } else {
        const killer = admin();
        await killer`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'outage-test'`;
        await killer.end({ timeout: 1 });
      }
      await until('the load continues', () => succeeded > before + 50);
    }
    loading = false;
    await Promise.all(load);
    await until('all connections work', allConnectionsWork);
  });

  test('fails at once while the server is down, and works when it is back', async () => {
    await server.stop('SIGKILL');
    const began = performance.now();
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => sql`select 1`));
    assert.ok(outcomes.every((outcome) => outcome.status === 'rejected'));
    assert.ok(performance.now() - began < 60_000, `${performance.now() - began} ms`);
    server = await server.again();
    await until('a query works', works);
    await until('all connections work', allConnectionsWork);
  });
});
