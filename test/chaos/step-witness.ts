// When the database first kept each finished step, seen by a trigger below the application.
import type { Sql } from '@methods/postgres/pool';
import type { RecordedStep } from './history.ts';

export class StepWitness {
  private constructor(private readonly sql: Sql) {}

  /** Sees everything from here on; `sql` may create tables. */
  static async watch(sql: Sql): Promise<StepWitness> {
    await sql.unsafe(`
      create table witness.steps (run_id text, step text, recorded_ms bigint, primary key (run_id, step));
      create function witness.step_kept() returns trigger language plpgsql as $$ begin
        if new.status = 'succeeded' then
          insert into witness.steps values (new.run_id, new.path, extract(epoch from clock_timestamp()) * 1000)
          on conflict do nothing;
        end if;
        return null; end $$;
      create trigger witness_steps after insert or update on scheduler.steps
        for each row execute function witness.step_kept();
    `);
    return new StepWitness(sql);
  }

  async recorded(): Promise<RecordedStep[]> {
    const rows = await this.sql<{ run_id: string; step: string; recorded_ms: string }[]>`
      select run_id, step, recorded_ms from witness.steps`;
    return rows.map((row) => ({ runId: row.run_id, step: row.step, recordedMs: Number(row.recorded_ms) }));
  }
}
