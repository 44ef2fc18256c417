-- Claims by turns: of organizations, then of their hosts. What is due is found without a look at the rows of a host that
-- is full, or at rows whose time is still to come.

-- No DNS name is longer, and an index entry has no room for more; such a host never resolves.
update notifier.deliveries set host = '' where length(host) > 253;

-- True: a first try that waits for the first try of its run's delivery before. A claim sets it, the end of that try
-- clears it.
alter table notifier.deliveries add column waits boolean not null default false;

-- When it is an organization's turn, and a host's within it: never later than the first of its deliveries is due, or now
-- when that has passed. Being early costs a look; being late would leave a delivery unsent.
create table notifier.due_organizations (
  org_id  text        not null primary key,
  due_at  timestamptz not null,
  -- Grows with every write. A claim moves a turn only while it is what the claim's snapshot has seen.
  changes bigint      not null default 1
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
create index due_organizations_due on notifier.due_organizations (due_at);

create table notifier.due_hosts (
  org_id  text        not null,
  host    text        not null,
  due_at  timestamptz not null,
  changes bigint      not null default 1,
  primary key (org_id, host)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
create index due_hosts_due on notifier.due_hosts (org_id, due_at);

-- Kept by the database, so that whoever writes a delivery, also a process of the release before, cannot forget it.
-- Whoever holds several of these rows took them in one order: deliveries, hosts, organizations, each by their keys.
create function notifier.keep_turns() returns trigger language plpgsql as $$
declare
  orgs  text[];
  runs  text[];
  hosts text[];
  dues  timestamptz[];
begin
  -- Its own release of waiting deliveries, below.
  if pg_trigger_depth() > 1 then
    return null;
  end if;
  if tg_op = 'UPDATE' then
    select array_agg(i.org_id), array_agg(i.run_id) into orgs, runs
    from became i join was w on w.org_id = i.org_id and w.delivery_id = i.delivery_id
    where w.tries = 0 and i.tries > 0;
  end if;
  if orgs is null and not exists (select from became where status = 'pending' and claim is null and not waits) then
    return null;
  end if;
  -- A statement of its own, with a snapshot of its own: it sees what was made to wait while the update above waited
  -- for that claim to commit.
  with released as (
    update notifier.deliveries d set waits = false
    from unnest(orgs, runs) as r(org_id, run_id) cross join lateral (
      select e.delivery_id, e.waits from notifier.deliveries e
      where e.org_id = r.org_id and e.run_id = r.run_id and e.status = 'pending' and e.tries = 0
      order by e.seq limit 1) first
    where first.waits and d.org_id = r.org_id and d.delivery_id = first.delivery_id
    returning d.org_id, d.host, d.due_at
  ), due as (
    select org_id, host, min(due_at) as due_at from (
      -- A claim moves the turns itself.
      select org_id, host, due_at from became where status = 'pending' and claim is null and not waits
      union all select org_id, host, due_at from released) one
    group by org_id, host
  )
  select array_agg(org_id order by org_id, host), array_agg(host order by org_id, host),
    array_agg(due_at order by org_id, host) into orgs, hosts, dues from due;
  if orgs is null then
    return null;
  end if;
  insert into notifier.due_hosts as t (org_id, host, due_at)
  select org_id, host, due_at from unnest(orgs, hosts, dues) as d(org_id, host, due_at) order by org_id, host
  on conflict (org_id, host) do update set due_at = least(t.due_at, excluded.due_at), changes = t.changes + 1;
  insert into notifier.due_organizations as t (org_id, due_at)
  select org_id, min(due_at) from unnest(orgs, dues) as d(org_id, due_at) group by org_id order by org_id
  on conflict (org_id) do update set due_at = least(t.due_at, excluded.due_at), changes = t.changes + 1;
  return null;
end
$$;

create trigger deliveries_stored after insert on notifier.deliveries
  referencing new table as became for each statement execute function notifier.keep_turns();
create trigger deliveries_changed after update on notifier.deliveries
  referencing old table as was new table as became for each statement execute function notifier.keep_turns();

insert into notifier.due_hosts (org_id, host, due_at)
select org_id, host, min(due_at) from notifier.deliveries where status = 'pending' group by org_id, host;
insert into notifier.due_organizations (org_id, due_at)
select org_id, min(due_at) from notifier.due_hosts group by org_id;
