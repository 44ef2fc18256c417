// A witness below the application: triggers that write down every change of a run and of a shard's epoch, and the rules
// they must all keep, whichever process died meanwhile.
import assert from 'node:assert/strict';
import { openPool, type Sql } from '@methods/postgres/pool';
import { until } from '../harness/until.ts';
import type { Cluster } from './cluster.ts';

export class ChangeWitness {
  private constructor(readonly sql: Sql) {}

  /** Sees everything from here on. */
  static async watch(cluster: Cluster): Promise<ChangeWitness> {
    const sql = openPool({
      url: cluster.ready.postgres_url,
      applicationName: 'witness',
      max: 2,
      statementTimeoutMs: 10_000,
    });
    await sql.unsafe(`
      create schema witness;
      create table witness.runs (
        seen bigint generated always as identity, at timestamptz default clock_timestamp(), run_id text,
        old_status text, status text, old_revision int, revision int,
        old_attempts int, attempts int, old_token text, token text);
      create table witness.shards (seen bigint generated always as identity, shard int, old_epoch bigint, epoch bigint);
      create function witness.run_changed() returns trigger language plpgsql as $$ begin
        insert into witness.runs (run_id, old_status, status, old_revision, revision, old_attempts, attempts, old_token, token)
        values (new.run_id, old.status, new.status, old.revision, new.revision, old.attempts, new.attempts, old.token, new.token);
        return null; end $$;
      create function witness.shard_changed() returns trigger language plpgsql as $$ begin
        insert into witness.shards (shard, old_epoch, epoch) values (new.shard, old.epoch, new.epoch);
        return null; end $$;
      create trigger witness_runs after update on scheduler.runs for each row execute function witness.run_changed();
      create trigger witness_shards after update on scheduler.shards for each row execute function witness.shard_changed();
    `);
    return new ChangeWitness(sql);
  }

  /** Throws AssertionError with the first changes that no run may make. */
  async agree(): Promise<void> {
    const wrong = await this.sql<object[]>`
      select * from witness.runs where
        revision <> old_revision + 1
        or old_status in ('succeeded', 'failed', 'cancelled')
        or attempts > 3 or attempts < old_attempts
        or (attempts > old_attempts and not (attempts = old_attempts + 1 and old_status = 'queued' and status = 'running'))
        -- A token is new at every claim and stays until the next. An answer may be claimed in its own commit, which may
        -- have all that its worker reported too.
        or (old_token is distinct from token and old_status not in ('queued', 'waiting'))
        or (old_token is distinct from token and old_status = 'queued' and status <> 'running')
        or (old_token is not distinct from token and (old_status, status) in (
          ('queued', 'running'), ('waiting', 'running'), ('waiting', 'waiting'), ('waiting', 'succeeded')))
        or (old_status, status) not in (
          ('queued', 'running'), ('queued', 'cancelled'),
          ('running', 'running'), ('running', 'queued'), ('running', 'waiting'),
          ('running', 'succeeded'), ('running', 'failed'), ('running', 'cancelled'),
          ('waiting', 'queued'), ('waiting', 'running'), ('waiting', 'waiting'),
          ('waiting', 'succeeded'), ('waiting', 'failed'), ('waiting', 'cancelled'))
      order by seen limit 5`;
    assert.deepEqual([...wrong], [], 'changes that no run may make');
    const fell = await this.sql<object[]>`select * from witness.shards where epoch < old_epoch order by seen limit 5`;
    assert.deepEqual([...fell], [], 'epochs that fell');
  }

  /** Every change of a run in order, a line each. */
  async changesOf(runId: string): Promise<string[]> {
    const rows = await this.sql<
      { at: Date; status: string; revision: number; attempts: number; token: string | null }[]
    >`
      select at, status, revision, attempts, left(token, 6) as token
        from witness.runs where run_id = ${runId} order by seen`;
    return rows.map(
      ({ at, status, revision, attempts, token }) =>
        `${at.getTime()} revision ${revision}: ${status}, ${attempts} attempts, token ${token}`,
    );
  }

  /** This many nodes are alive, each owns shards, and every shard has an owner. */
  async settled(nodes: number, withinMs?: number): Promise<void> {
    const areAllOwned = async () => {
      const [row] = await this.sql<{ owners: number; orphans: number }[]>`
        select count(distinct node_id)::int as owners,
               (count(*) filter (where node_id is null or released))::int as orphans
          from scheduler.shards left join scheduler.nodes
            on node_id = owner and not leaving and seen_at > clock_timestamp() - interval '2 s'`;
      return row?.owners === nodes && row.orphans === 0;
    };
    await until(`${nodes} nodes own all shards`, areAllOwned, withinMs);
  }

  close(): Promise<void> {
    return this.sql.end({ timeout: 2 });
  }
}
