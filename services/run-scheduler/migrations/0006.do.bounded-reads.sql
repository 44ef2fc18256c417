-- Deadlines of one moment are read in stretches, so that a place among them must be exact; and so must be one among
-- folders of one age.
create index deadlines_in_order on scheduler.deadlines (wake_at_ms, run_id) include (shard, org_id, question_id);
drop index scheduler.deadlines_due;
create index run_folders_in_order on scheduler.run_folders (created_at_ms, folder_id, org_id) include (run_id);
drop index scheduler.run_folders_by_age;

-- How many runs of an organization have not finished, by shard: written in the statement of the runs themselves, by the
-- shard's owner. The sum bounds what an organization may start. Nodes from before this count nothing, so after a release
-- a sum is off by what started and finished on them meanwhile; a single row may be below zero.
create table scheduler.unfinished (
  org_id text not null,
  shard smallint not null,
  runs bigint not null,
  primary key (org_id, shard)
) with (fillfactor = 50, autovacuum_vacuum_threshold = 500);
insert into scheduler.unfinished (org_id, shard, runs)
  select org_id, shard, count(*) from scheduler.runs
  where status in ('queued', 'sleeping', 'running', 'waiting') group by org_id, shard;
