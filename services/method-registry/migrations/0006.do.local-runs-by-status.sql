-- In steps.
-- A list of the runs in one state reads that state's runs only, however rare it is.

drop index concurrently if exists registry.local_runs_newest_of_status;
create index concurrently local_runs_newest_of_status on registry.local_runs
  (org_id, status, created_at desc, run_id desc);

drop index concurrently if exists registry.local_runs_newest_of_method_status;
create index concurrently local_runs_newest_of_method_status on registry.local_runs
  (org_id, method_id, status, created_at desc, run_id desc);
