-- In steps.
-- Runs go on meanwhile: after a long outage of the bus the outbox is large, and so are deadlines and folders.

drop index concurrently if exists scheduler.outbox_due;
create index concurrently outbox_due on scheduler.outbox (org_id, send_at_ms) include (shard, run_id);

-- The events of a run go out in their order.
drop index concurrently if exists scheduler.outbox_by_run;
create index concurrently outbox_by_run on scheduler.outbox (run_id, org_id, seq);

-- Deadlines of one moment are read in stretches, so that a place among them must be exact; and so must be one among
-- folders of one age.
drop index concurrently if exists scheduler.deadlines_in_order;
create index concurrently deadlines_in_order on scheduler.deadlines (wake_at_ms, run_id)
  include (shard, org_id, question_id);
drop index concurrently if exists scheduler.deadlines_due;

drop index concurrently if exists scheduler.run_folders_in_order;
create index concurrently run_folders_in_order on scheduler.run_folders (created_at_ms, folder_id, org_id)
  include (run_id);
drop index concurrently if exists scheduler.run_folders_by_age;
