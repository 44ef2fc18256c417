-- The second wall between organizations: whoever reads one organization's rows does so as scheduler_reader, which sees
-- the rows of methods.org_id alone, also through a query that forgets its condition. The service's own user writes, and
-- reads across organizations, under a policy of its own: FORCE holds for the owner as well.

-- A key of one organization never meets another's, not even to tell that it is taken.
alter table scheduler.queue drop constraint queue_pkey, add primary key (run_id, org_id);
alter table scheduler.deadlines drop constraint deadlines_pkey, add primary key (run_id, org_id);
alter table scheduler.outbox drop constraint outbox_pkey, add primary key (outbox_id, org_id);

grant usage on schema scheduler to scheduler_reader;

-- To be called for each table of rows that belong to organizations, by the migration that makes the table.
create function scheduler.wall_off(organization_table regclass) returns void language plpgsql as $$
begin
  execute format('alter table %s enable row level security, force row level security', organization_table);
  execute format('create policy service on %s to current_user using (true) with check (true)', organization_table);
  -- Never set, it is null; after a transaction that set it, ''. Neither finds a row.
  execute format('create policy one_organization on %s for select to scheduler_reader
    using (org_id = nullif(current_setting(''methods.org_id'', true), ''''))', organization_table);
  execute format('grant select on %s to scheduler_reader', organization_table);
end
$$;

select scheduler.wall_off(c.oid) from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attname = 'org_id' and not a.attisdropped
  where c.relnamespace = 'scheduler'::regnamespace and c.relkind in ('r', 'p');
