-- How much memory a run takes that is read at its deadline: of many at one moment, so many are read as there is room for.
-- Nodes from before this write 0.
alter table scheduler.deadlines add column bytes bigint not null default 0;
