// A witness below the application: triggers on every table that write down each row that is made, changed or removed.
import type { Sql } from 'postgres';
import { until } from '../harness/until.ts';

/** What changes by itself: which nodes are alive and own what, what is sent next, and when a person was last seen. */
const NOT_WATCHED = ['scheduler.nodes', 'scheduler.shards', 'notifier.due_organizations', 'notifier.due_hosts'];
const VOLATILE_COLUMNS = ['last_seen_at', 'last_used_at'];

export class RowWitness {
  private constructor(private readonly sql: Sql) {}

  /** Waits until what was begun has ended; sees everything from there on. */
  static async watch(sql: Sql): Promise<RowWitness> {
    await until('nothing is under way', async () => {
      const [underWay] = await sql`
        select from scheduler.outbox union all select from scheduler.runs where status = 'running'
        union all select from registry.builds where state in ('queued', 'running') limit 1`;
      return underWay === undefined;
    });
    await sql.unsafe(`
      create schema witness;
      create table witness.changes (seen bigint generated always as identity, change text, row_text text);
      create function witness.row_changed() returns trigger language plpgsql as $$
      declare
        old_row jsonb := case when tg_op = 'INSERT' then null else to_jsonb(old) - '{${VOLATILE_COLUMNS}}'::text[] end;
        new_row jsonb := case when tg_op = 'DELETE' then null else to_jsonb(new) - '{${VOLATILE_COLUMNS}}'::text[] end;
      begin
        if old_row is distinct from new_row then
          insert into witness.changes (change, row_text) values (
            tg_op || ' ' || tg_table_schema || '.' || tg_table_name, left(coalesce(new_row, old_row)::text, 400));
        end if;
        return null;
      end $$`);
    const tables = await sql<{ schema: string; name: string }[]>`
      select table_schema as schema, table_name as name from information_schema.tables
      where table_schema in ('registry', 'scheduler', 'notifier') and table_type = 'BASE TABLE'
        and table_schema || '.' || table_name <> all(${NOT_WATCHED})`;
    for (const { schema, name } of tables) {
      await sql`create trigger row_witness after insert or update or delete on ${sql(schema)}.${sql(name)}
        for each row execute function witness.row_changed()`;
    }
    const witness = new RowWitness(sql);
    await until('the last lines of the audit log are there', async () => (await witness.changes()).length === 0);
    return witness;
  }

  /** What has changed since the last call, for a person to read. */
  async changes(): Promise<readonly string[]> {
    const rows = await this.sql<{ told: string }[]>`
      with taken as (delete from witness.changes returning seen, change || ' ' || row_text as told)
      select told from taken order by seen`;
    return rows.map(({ told }) => told);
  }
}
