-- Deliveries to an organization's endpoints, beside those to the URL of a run.

alter table notifier.deliveries
  -- Empty: to the run's own URL. The URL of an endpoint may be a secret and is not here: a try asks for it.
  add column endpoint_id text not null default '',
  add column kind text not null default 'webhook';
alter table notifier.deliveries
  add constraint deliveries_kind check (kind in ('webhook', 'endpoint', 'slack', 'teams')) not valid;

-- As before, with one queue of first tries for each target of a run: what a dead chat has not taken delays no webhook.
-- All targets of the run are looked at, since a process of the release before lets one wait for another.
create or replace function notifier.keep_turns() returns trigger language plpgsql as $$
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
    select array_agg(org_id), array_agg(run_id) into orgs, runs
    from (
      select distinct i.org_id, i.run_id
      from became i join was w on w.org_id = i.org_id and w.delivery_id = i.delivery_id
      where w.tries = 0 and i.tries > 0) tried;
  end if;
  if orgs is null and not exists (select from became where status = 'pending' and claim is null and not waits) then
    return null;
  end if;
  -- A statement of its own, with a snapshot of its own: it sees what was made to wait while the update above waited
  -- for that claim to commit.
  with released as (
    update notifier.deliveries d set waits = false
    from unnest(orgs, runs) as r(org_id, run_id) cross join lateral (
      select distinct on (e.endpoint_id) e.delivery_id, e.waits from notifier.deliveries e
      where e.org_id = r.org_id and e.run_id = r.run_id and e.status = 'pending' and e.tries = 0
      order by e.endpoint_id, e.seq) first
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
