-- A key of one organization never meets another's, not even to tell that it is taken.
alter table scheduler.queue drop constraint queue_pkey, add primary key (run_id, org_id);
alter table scheduler.deadlines drop constraint deadlines_pkey, add primary key (run_id, org_id);
alter table scheduler.outbox drop constraint outbox_pkey, add primary key (outbox_id, org_id);
