-- Lists of an organization's runs, newest first. Ascending, though it is read backwards: new entries then go to an
-- organization's right end, whose pages are filled before they split. All its columns are immutable.
create index runs_by_creation on scheduler.runs (org_id, created_at_ms, run_id);
