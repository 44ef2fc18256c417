-- Organizations, service keys, methods and their versions. Every key and every foreign key starts with org_id, so that
-- no row can point at another organization's row, whatever a query forgets.

create schema if not exists registry;

create table registry.organizations (
  org_id text not null,
  issuer text not null,
  external_id text not null,
  name text not null,
  created_at timestamptz not null default now(),
  constraint organizations_pkey primary key (org_id),
  constraint organizations_external_key unique (issuer, external_id),
  constraint organizations_org_id_check check (org_id ~ '^org_[0-9a-hjkmnp-tv-z]{26}$'),
  constraint organizations_issuer_check check (char_length(issuer) between 1 and 512),
  constraint organizations_external_id_check check (char_length(external_id) between 1 and 256),
  constraint organizations_name_check check (char_length(name) between 1 and 256)
);

create table registry.service_keys (
  org_id text not null,
  key_id text not null,
  name text not null,
  -- SHA-256 of the key's auth part; the key itself is never here.
  auth_sha256 bytea not null,
  -- AES-256-GCM under SECRETS_KEY, bound to (org_id, key_id).
  sealed_webhook_secret bytea not null,
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  constraint service_keys_pkey primary key (org_id, key_id),
  -- Resolving a key is one point read here: the organization follows from the key, not the other way round.
  constraint service_keys_auth_key unique (auth_sha256),
  constraint service_keys_org_fkey foreign key (org_id) references registry.organizations (org_id),
  constraint service_keys_key_id_check check (key_id ~ '^key_[0-9a-hjkmnp-tv-z]{26}$'),
  constraint service_keys_name_check check (char_length(name) between 1 and 200),
  constraint service_keys_auth_check check (octet_length(auth_sha256) = 32),
  constraint service_keys_sealed_check check (octet_length(sealed_webhook_secret) between 32 and 1024),
  constraint service_keys_revoked_check check (revoked_at >= created_at)
);

create table registry.methods (
  org_id text not null,
  method_id text not null,
  display_name text not null,
  current_version text not null,
  published_version text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  created_by text not null,
  constraint methods_pkey primary key (org_id, method_id),
  constraint methods_org_fkey foreign key (org_id) references registry.organizations (org_id),
  constraint methods_method_id_check check (method_id ~ '^[0-9a-hjkmnp-tv-z]{26}$'),
  constraint methods_display_name_check check (char_length(display_name) between 1 and 200),
  constraint methods_created_by_check check (char_length(created_by) <= 512),
  constraint methods_updated_check check (updated_at >= created_at)
);

create table registry.versions (
  org_id text not null,
  method_id text not null,
  version_id text not null,
  -- The version this one was saved upon; null only for a method's first.
  base_version text,
  schema_version text not null,
  -- Bytes, not text: a byte order mark, CRLF and unnormalized characters must come back as they were.
  source bytea not null,
  sha256 bytea not null,
  reason text not null,
  features text[] not null,
  secrets text[] not null,
  -- Production id to the version that calls without one are bound to.
  calls_json text not null,
  created_at timestamptz not null default now(),
  created_by text not null,
  constraint versions_pkey primary key (org_id, method_id, version_id),
  constraint versions_method_fkey foreign key (org_id, method_id) references registry.methods (org_id, method_id),
  constraint versions_base_fkey foreign key (org_id, method_id, base_version)
    references registry.versions (org_id, method_id, version_id),
  -- One successor a version: with versions_first_key, a method's versions are one chain.
  constraint versions_base_key unique (org_id, method_id, base_version),
  constraint versions_version_id_check check (version_id ~ '^ver_[0-9a-hjkmnp-tv-z]{26}$'),
  constraint versions_base_check check (base_version <> version_id),
  constraint versions_schema_version_check check (schema_version in ('method/2', 'workflow/2', 'workflow/1')),
  constraint versions_source_check check (octet_length(source) between 1 and 262144),
  constraint versions_sha256_check check (sha256 = sha256(source)),
  constraint versions_reason_check check (char_length(reason) <= 2000),
  constraint versions_created_by_check check (char_length(created_by) <= 512)
);

create unique index versions_first_key on registry.versions (org_id, method_id) where base_version is null;

alter table registry.methods
  add constraint methods_current_fkey foreign key (org_id, method_id, current_version)
    references registry.versions (org_id, method_id, version_id),
  add constraint methods_published_fkey foreign key (org_id, method_id, published_version)
    references registry.versions (org_id, method_id, version_id);

-- Runs are promised the bytes they started with.
create function registry.refuse_update() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % never change', tg_table_name using errcode = 'integrity_constraint_violation';
end
$$;

create trigger versions_immutable before update on registry.versions
  for each row execute function registry.refuse_update();

-- What a creation key made, kept for as long as the method: a repeat finds the same method and version.
create table registry.creation_requests (
  org_id text not null,
  idempotency_hash bytea not null,
  method_id text not null,
  version_id text not null,
  created_at timestamptz not null default now(),
  constraint creation_requests_pkey primary key (org_id, idempotency_hash),
  constraint creation_requests_version_fkey foreign key (org_id, method_id, version_id)
    references registry.versions (org_id, method_id, version_id),
  constraint creation_requests_hash_check check (octet_length(idempotency_hash) = 32)
);

-- Who published what and when, in order; never changed.
create table registry.publications (
  org_id text not null,
  method_id text not null,
  publication_id bigint generated always as identity,
  version_id text not null,
  published_at timestamptz not null default now(),
  published_by text not null,
  constraint publications_pkey primary key (org_id, method_id, publication_id),
  constraint publications_version_fkey foreign key (org_id, method_id, version_id)
    references registry.versions (org_id, method_id, version_id),
  constraint publications_published_by_check check (char_length(published_by) <= 512)
);

create index publications_version_idx on registry.publications (org_id, method_id, version_id, published_at);

create trigger publications_immutable before update on registry.publications
  for each row execute function registry.refuse_update();

-- The exact dependencies of a version, written once by the first worker that resolved them.
create table registry.version_locks (
  org_id text not null,
  method_id text not null,
  version_id text not null,
  lock bytea not null,
  sha256 bytea not null,
  created_at timestamptz not null default now(),
  constraint version_locks_pkey primary key (org_id, method_id, version_id),
  constraint version_locks_version_fkey foreign key (org_id, method_id, version_id)
    references registry.versions (org_id, method_id, version_id),
  constraint version_locks_lock_check check (octet_length(lock) between 1 and 1048576),
  constraint version_locks_sha256_check check (sha256 = sha256(lock))
);

create trigger version_locks_immutable before update on registry.version_locks
  for each row execute function registry.refuse_update();
