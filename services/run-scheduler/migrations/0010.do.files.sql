-- Files that callers send for the inputs of runs. A row without sha256 is on its way. One that no run names is gone
-- after its time; one that a run names lives as long as that run.
create table scheduler.files (
  file_id text not null,
  org_id text not null,
  -- The key or the person that sent it and may name it.
  owner text not null,
  name text not null,
  media_type text not null,
  -- Of a file on its way: what is set aside for it.
  bytes bigint not null,
  sha256 text,
  idempotency_hash bytea,
  expires_at_ms bigint not null,
  -- When the sweep looks at it next.
  look_at_ms bigint not null,
  primary key (file_id, org_id)
);
create unique index files_by_key on scheduler.files (org_id, owner, idempotency_hash)
  where idempotency_hash is not null;
create index files_to_look_at on scheduler.files (look_at_ms, file_id, org_id);

create table scheduler.file_chunks (
  file_id text not null,
  org_id text not null,
  position integer not null,
  chunk bytea not null,
  primary key (file_id, org_id, position),
  foreign key (file_id, org_id) references scheduler.files (file_id, org_id) on delete cascade
);

-- Which runs name which files; written before the run itself, so a row may be of a run that never was.
create table scheduler.run_files (
  run_id text not null,
  org_id text not null,
  file_id text not null,
  named_at_ms bigint not null,
  primary key (run_id, org_id, file_id),
  foreign key (file_id, org_id) references scheduler.files (file_id, org_id)
);
create index run_files_by_file on scheduler.run_files (file_id, org_id);

-- What the files of an organization take, those on their way with what is set aside for them.
create table scheduler.file_shares (
  org_id text not null,
  bytes bigint not null,
  files bigint not null,
  primary key (org_id)
);
