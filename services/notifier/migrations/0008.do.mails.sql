-- E-mail about questions. The mails themselves are deliveries, to the host `mailto:`.

-- Not validated: only new rows have the new kind.
alter table notifier.deliveries drop constraint deliveries_kind;
alter table notifier.deliveries
  add constraint deliveries_kind check (kind in ('webhook', 'endpoint', 'slack', 'teams', 'mail')) not valid;

-- Questions that people are asked by mail, and those that closed before that was known: no mail is made of these.
create table notifier.mailed_questions (
  org_id      text        not null,
  question_id text        not null,
  run_id      text        not null,
  closed_at   timestamptz,
  primary key (org_id, question_id)
);
create index mailed_questions_closed on notifier.mailed_questions (closed_at) where closed_at is not null;

-- How many mails people have got in the last hour.
create table notifier.mail_counts (
  org_id    text        not null,
  -- An address in lower case; empty for the whole organization.
  recipient text        not null,
  since     timestamptz not null default now(),
  mails     integer     not null,
  -- The delivery of their next mail of several questions, and how many were gathered for it.
  digest_id text,
  gathered  integer     not null default 0,
  primary key (org_id, recipient)
);
create index mail_counts_since on notifier.mail_counts (since);

-- The questions of mails about several.
create table notifier.mail_digests (
  org_id      text   not null,
  delivery_id text   not null,
  run_id      text   not null,
  seq         bigint not null,
  -- The question, as JSON.
  part        text   not null,
  primary key (org_id, delivery_id, run_id, seq),
  foreign key (org_id, delivery_id) references notifier.deliveries on delete cascade
);
