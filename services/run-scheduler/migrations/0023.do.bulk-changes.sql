-- Changes of many runs: what a person asked for, and the runs that were fixed when it was prepared. Runs that the action
-- passes over are only counted, by reason.
create table scheduler.bulks (
  bulk_id text not null,
  org_id text not null,
  action text not null check (action in ('cancel', 'rerun', 'rerun_failed_step')),
  state text not null check (state in ('prepared', 'running', 'done', 'stopped')),
  -- The person, with the address and the request.
  by_json text not null,
  created_at_ms bigint not null,
  started_at_ms bigint,
  finished_at_ms bigint,
  total integer not null default 0,
  done integer not null default 0,
  failed integer not null default 0,
  passed_over_json text not null default '{}',
  more boolean not null default false,
  -- The gateway that carries it out, until this time by the database's clock.
  driver text not null default '',
  driven_until_ms bigint not null default 0,
  primary key (bulk_id, org_id)
);
create index bulks_listed on scheduler.bulks (org_id, bulk_id);
create index bulks_idle on scheduler.bulks (driven_until_ms, bulk_id) where state = 'running';
-- Sweeps.
create index bulks_by_age on scheduler.bulks (created_at_ms);

create table scheduler.bulk_items (
  bulk_id text not null,
  org_id text not null,
  position integer not null,
  run_id text not null,
  state text not null default 'todo' check (state in ('todo', 'done', 'failed')),
  reason text not null default '',
  new_run_id text not null default '',
  primary key (bulk_id, org_id, position),
  foreign key (bulk_id, org_id) references scheduler.bulks (bulk_id, org_id) on delete cascade
) with (fillfactor = 80);
create index bulk_items_todo on scheduler.bulk_items (bulk_id, org_id, position) where state = 'todo';
create index bulk_items_failed on scheduler.bulk_items (bulk_id, org_id, position) where state = 'failed';
