-- In steps.
-- The runs that repeat a run, newest first.

drop index concurrently if exists scheduler.runs_that_repeat;
create index concurrently runs_that_repeat on scheduler.runs (org_id, rerun_of, created_at_ms desc, run_id desc)
  where rerun_of <> '';
