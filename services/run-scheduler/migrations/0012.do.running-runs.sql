-- Running runs are listed in rows of their own, up to eight of one organization and one commit in a row, which goes when
-- the last of them has stopped: an index of runs that names their state keeps every change of it from being a heap-only
-- update. A group's id begins with its shard, as a run's does.
create table scheduler.running (
  group_id text not null,
  org_id text not null,
  run_ids text[] not null,
  primary key (group_id, org_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

-- The epoch up to which all running runs of the shard are listed. Another one: a node of the release before, which lists
-- none, has owned it since.
alter table scheduler.shards add column listed_epoch bigint;

-- On a database that no node has used yet; elsewhere nodes drop it when none of the release before is left.
do $$ begin
  if not exists (select from scheduler.shards) then
    drop index scheduler.runs_running;
  end if;
end $$;
