-- Questions of runs in device mode: lists have no prompt of them.
alter table scheduler.questions add column on_device boolean not null default false;
