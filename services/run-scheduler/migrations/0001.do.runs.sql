-- Tables of the run-scheduler. Times are milliseconds since the epoch by this server's clock; JSON is kept as the
-- text it came as. Every row that belongs to an organization carries org_id in its key.

-- Who may write the runs of a shard: only a commit that names the shard's present epoch.
create table scheduler.shards (
  shard smallint primary key,
  epoch bigint not null default 0,
  owner text,
  released boolean not null default true
);

-- Beats of nodes, read when the bucket of beats cannot be.
create table scheduler.nodes (
  node_id text primary key,
  peer_address text not null,
  beat bigint not null,
  leaving boolean not null default false,
  seen_at timestamptz not null default clock_timestamp()
);

create table scheduler.runs (
  run_id text not null,
  org_id text not null,
  shard smallint not null,
  revision integer not null,
  method text not null,
  version_id text not null,
  inputs_json text not null,
  idempotency_hash bytea not null,
  request_digest bytea not null,
  webhook_url text,
  key_id text not null,
  answer_by text not null check (answer_by in ('application', 'team')),
  metadata_json text,
  created_at_ms bigint not null,
  max_attempts smallint not null,
  -- Features a worker must have beside those every worker has.
  needs text not null,
  status text not null check (status in ('queued', 'sleeping', 'running', 'waiting', 'succeeded', 'failed', 'cancelled')),
  state_since_ms bigint not null,
  started_at_ms bigint,
  queued_ms bigint not null,
  running_ms bigint not null,
  waiting_ms bigint not null,
  attempts smallint not null check (attempts between 0 and max_attempts),
  -- False when the next claim counts: before the first one and after a lost lease.
  attempt_open boolean not null,
  token text,
  worker_session text,
  last_seq integer not null,
  cancel_requested boolean not null default false,
  -- The open question of a waiting run; the last accepted answer of any run.
  question_json text,
  answer_json text,
  wake_at_ms bigint,
  folder_id text,
  result_json text,
  error_json text,
  primary key (run_id, org_id),
  check ((status = 'running') = (worker_session is not null)),
  check (status <> 'running' or token is not null),
  check ((status = 'waiting') = (question_json is not null)),
  check ((status = 'sleeping') = (wake_at_ms is not null)),
  check ((status = 'succeeded') = (result_json is not null)),
  check ((status = 'failed') = (error_json is not null))
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);

-- A repeated key meets the first run, whichever node it reaches.
create unique index runs_idempotency on scheduler.runs (org_id, idempotency_hash);
-- Read at a take-over only; small, because only running runs stand in it.
create index runs_running on scheduler.runs (shard) where status = 'running';

create table scheduler.steps (
  run_id text not null,
  org_id text not null,
  path text not null,
  seq integer not null,
  status text not null check (status in ('running', 'waiting', 'succeeded', 'failed', 'skipped', 'cancelled')),
  view_json text not null,
  out_json text,
  out_withheld boolean not null default false,
  log_tail text,
  primary key (run_id, org_id, path)
);

-- Queued runs stand here as well, so that no index of runs changes with their state.
create table scheduler.queue (
  run_id text primary key,
  org_id text not null,
  -- With the features its runs need: wf_1, or wf_1+python.
  method text not null,
  queued_at_ms bigint not null,
  shard smallint not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
create index queue_order on scheduler.queue (org_id, method, queued_at_ms, run_id) include (shard);

-- Questions with a deadline, and sleeping runs, which have no question.
create table scheduler.deadlines (
  run_id text primary key,
  org_id text not null,
  question_id text not null,
  wake_at_ms bigint not null,
  shard smallint not null
);
create index deadlines_due on scheduler.deadlines (wake_at_ms) include (shard, run_id, org_id, question_id);

-- Events nobody has confirmed yet; written in the same statement as the change they tell of.
create table scheduler.outbox (
  outbox_id text primary key,
  org_id text not null,
  run_id text not null,
  shard smallint not null,
  seq integer not null,
  body bytea not null,
  created_at_ms bigint not null
);
create index outbox_by_shard on scheduler.outbox (shard, created_at_ms);

-- Saved run folders: what the steps of a run left as files.
create table scheduler.run_folders (
  folder_id text not null,
  org_id text not null,
  run_id text not null,
  bytes_total bigint not null,
  created_at_ms bigint not null,
  primary key (folder_id, org_id)
);
create index run_folders_by_run on scheduler.run_folders (run_id, org_id);
create table scheduler.run_folder_chunks (
  folder_id text not null,
  org_id text not null,
  position integer not null,
  chunk bytea not null,
  primary key (folder_id, org_id, position),
  foreign key (folder_id, org_id) references scheduler.run_folders (folder_id, org_id) on delete cascade
);
