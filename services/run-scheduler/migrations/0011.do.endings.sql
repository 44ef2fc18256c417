-- What follows a failure that no worker saw. cleans_up: the version has steps for after a failure, or steps that may
-- fail without failing the run. ending_json: the failure, while a worker is still to be had for those steps.
alter table scheduler.runs add column cleans_up boolean not null default false;
alter table scheduler.runs add column ending_json text;
