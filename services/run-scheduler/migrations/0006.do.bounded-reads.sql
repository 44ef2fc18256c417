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
