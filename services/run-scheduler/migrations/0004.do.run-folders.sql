-- The sweep looks at folders of a certain age alone: those that their runs name stay as long as the runs.
create index run_folders_by_age on scheduler.run_folders (created_at_ms);
