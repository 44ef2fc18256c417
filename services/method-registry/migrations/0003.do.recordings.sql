-- Methods that have no version yet: those of an agent prompt, and those whose recording is uploaded and compiled here.
-- And the records of runs that people made on their own computers.

alter table registry.methods
  alter column current_version drop not null,
  add column agent_prompt text,
  -- What searches look in: lower() of ten thousand names would take longer than all the rest of a search.
  add column folded_name text generated always as (lower(display_name)) stored,
  add constraint methods_agent_prompt_check check (octet_length(agent_prompt) between 1 and 65536),
  -- A version that runs get is one of a chain, and a chain has a newest one.
  add constraint methods_version_check check (published_version is null or current_version is not null);

-- Recordings, in parts; where they are kept elsewhere this stays empty.
create table registry.blob_parts (
  org_id text not null,
  blob_id text not null,
  part_name text not null,
  bytes bytea not null,
  constraint blob_parts_pkey primary key (org_id, blob_id, part_name),
  constraint blob_parts_org_fkey foreign key (org_id) references registry.organizations (org_id),
  constraint blob_parts_names_check check (blob_id ~ '^[a-z0-9_-]{1,64}$' and part_name ~ '^[a-z0-9_-]{1,128}$'),
  constraint blob_parts_bytes_check check (octet_length(bytes) between 1 and 1048576)
);
-- Recordings compress badly once they hold images; trying costs more than it saves.
alter table registry.blob_parts alter column bytes set storage external;

create table registry.uploads (
  org_id text not null,
  upload_id text not null,
  -- SHA-256 of the token in the link; the token itself is never here.
  token_sha256 bytea not null,
  -- Empty: none was given.
  display_name text not null,
  file_name text not null,
  content_type text not null,
  size_bytes bigint not null,
  offset_bytes bigint not null default 0,
  part_count integer not null default 0,
  blob_id text not null,
  -- Parts of a link that ran out, still to be removed.
  abandoned_blob_id text,
  -- Made by the last byte.
  method_id text,
  created_at timestamptz not null default now(),
  created_by text not null,
  expires_at timestamptz not null,
  constraint uploads_pkey primary key (org_id, upload_id),
  constraint uploads_token_key unique (token_sha256),
  constraint uploads_method_key unique (org_id, method_id),
  constraint uploads_org_fkey foreign key (org_id) references registry.organizations (org_id),
  constraint uploads_method_fkey foreign key (org_id, method_id) references registry.methods (org_id, method_id),
  constraint uploads_upload_id_check check (upload_id ~ '^upl_[0-9a-hjkmnp-tv-z]{26}$'),
  constraint uploads_token_check check (octet_length(token_sha256) = 32),
  constraint uploads_texts_check check (
    char_length(display_name) <= 200 and char_length(file_name) between 1 and 255
    and char_length(content_type) between 1 and 255 and char_length(created_by) <= 128
  ),
  constraint uploads_size_check check (size_bytes between 1 and 209715200),
  constraint uploads_offset_check check (offset_bytes between 0 and size_bytes),
  constraint uploads_parts_check check (part_count between 0 and 10000),
  constraint uploads_whole_check check ((method_id is not null) = (offset_bytes = size_bytes))
);
create index uploads_abandoned on registry.uploads (expires_at)
  where (method_id is null and offset_bytes > 0) or abandoned_blob_id is not null;

-- What was received, in order: a part counts only once it stands here.
create table registry.upload_parts (
  org_id text not null,
  upload_id text not null,
  blob_id text not null,
  offset_bytes bigint not null,
  part_name text not null,
  constraint upload_parts_pkey primary key (org_id, upload_id, blob_id, offset_bytes),
  constraint upload_parts_upload_fkey foreign key (org_id, upload_id) references registry.uploads (org_id, upload_id)
);

-- A creation key makes a method at once, or an upload that makes one later: one namespace for both.
alter table registry.creation_requests
  alter column method_id drop not null,
  alter column version_id drop not null,
  add column upload_id text,
  add constraint creation_requests_method_fkey foreign key (org_id, method_id) references registry.methods (org_id, method_id),
  add constraint creation_requests_upload_fkey foreign key (org_id, upload_id) references registry.uploads (org_id, upload_id),
  add constraint creation_requests_made_check check ((upload_id is null) <> (method_id is null)),
  add constraint creation_requests_version_check check (version_id is null or method_id is not null);

-- The compiling of a recording: a job, and what came of it. A method has one at most, which a retry sets going again.
create table registry.builds (
  org_id text not null,
  method_id text not null,
  upload_id text not null,
  state text not null default 'queued',
  -- Since it was queued the last time.
  attempts integer not null default 0,
  -- A sentence for people.
  error text not null default '',
  -- Of the attempt under way: only who holds it may end the build.
  token text,
  -- When somebody may begin: at once where it is queued, at the end of the lease where it runs.
  due_at timestamptz,
  constraint builds_pkey primary key (org_id, method_id),
  constraint builds_method_fkey foreign key (org_id, method_id) references registry.methods (org_id, method_id),
  constraint builds_upload_fkey foreign key (org_id, upload_id) references registry.uploads (org_id, upload_id),
  constraint builds_state_check check (state in ('queued', 'running', 'succeeded', 'failed')),
  constraint builds_attempts_check check (attempts >= 0),
  constraint builds_error_check check ((error <> '') = (state = 'failed') and char_length(error) <= 1000),
  constraint builds_token_check check ((token is not null) = (state = 'running')),
  constraint builds_due_check check ((due_at is not null) = (state in ('queued', 'running')))
);
create index builds_due on registry.builds (due_at) where due_at is not null;

create table registry.local_runs (
  org_id text not null,
  -- Made on the person's computer.
  run_id text not null,
  method_id text not null,
  version_id text not null,
  sequence bigint not null,
  inspection text not null,
  -- As the inspection says; null where it says none.
  status text,
  -- Whole milliseconds: lists go on after a time that a cursor can carry.
  created_at timestamptz not null default date_trunc('milliseconds', now()),
  updated_at timestamptz not null default now(),
  created_by text not null,
  constraint local_runs_pkey primary key (org_id, run_id),
  constraint local_runs_version_fkey foreign key (org_id, method_id, version_id)
    references registry.versions (org_id, method_id, version_id),
  constraint local_runs_run_id_check check (run_id ~ '^run_[0-9a-hjkmnp-tv-z]{26}$'),
  constraint local_runs_sequence_check check (sequence between 0 and 4294967295),
  constraint local_runs_inspection_check check (octet_length(inspection) between 2 and 4194304),
  constraint local_runs_status_check check (status in ('running', 'waiting', 'succeeded', 'failed', 'cancelled')),
  constraint local_runs_created_by_check check (char_length(created_by) <= 128)
);
create index local_runs_newest on registry.local_runs (org_id, created_at desc, run_id desc);
create index local_runs_newest_of_method on registry.local_runs (org_id, method_id, created_at desc, run_id desc);
