-- Of a question that its deadline answered: the time of the answer, until the audit log has its line. Written in the run's
-- commit, so that a node that dies leaves the line to another one.
alter table scheduler.questions add column unrecorded_at_ms bigint;
