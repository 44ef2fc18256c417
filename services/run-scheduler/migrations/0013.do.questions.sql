-- Who started a run, where that is a person: their id, verified address, name and role. Runs of keys have key_id.
alter table scheduler.runs add column starter_json text;

-- Every question that a run asked, written in the commit of its run and kept with it. While it is open its content is in
-- the run's row; question_json, receipt_json and answer_json are filled when it closes. An id begins with its time, so its
-- order is that of the questions.
create table scheduler.questions (
  org_id text not null,
  question_id text not null,
  run_id text not null,
  method text not null,
  version_id text not null,
  step text not null,
  answer_by text not null check (answer_by in ('application', 'team')),
  -- Its beginning, for lists.
  prompt text not null,
  asked_at_ms bigint not null,
  due_at_ms bigint,
  -- The id of a person, or the one address that is asked; empty: no one.
  assignee text not null default '',
  -- For lists: to, not_starter and needs of its policy; null: one answer of any member or key decides.
  people_json text,
  votes integer not null default 0,
  state text not null check (state in ('open', 'answered', 'expired', 'cancelled')),
  closed_at_ms bigint,
  question_json text,
  receipt_json text,
  answer_json text,
  primary key (run_id, org_id, question_id),
  check ((state = 'open') = (closed_at_ms is null))
) with (autovacuum_vacuum_scale_factor = 0.05);

create index questions_by_id on scheduler.questions (org_id, question_id);
-- Lists hold only open questions. Those that applications answer are lists of their own.
create index questions_open on scheduler.questions (org_id, answer_by, question_id) where state = 'open';
create index questions_by_method on scheduler.questions (org_id, answer_by, method, question_id) where state = 'open';
create index questions_by_assignee on scheduler.questions (org_id, answer_by, assignee, question_id)
  where state = 'open';
create index questions_by_due on scheduler.questions (org_id, answer_by, due_at_ms, question_id)
  where state = 'open' and due_at_ms is not null;
