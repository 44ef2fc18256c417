-- The run that a run repeats; empty: none.
alter table scheduler.runs add column rerun_of text not null default '';
