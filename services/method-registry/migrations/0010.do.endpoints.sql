-- Webhooks of an organization for all its runs, made by an admin.

create table registry.endpoints (
  org_id text not null,
  endpoint_id text not null,
  -- One of a few places: the bound on their number holds also for two made at the same time.
  place smallint not null,
  name text not null,
  format text not null,
  -- AES-256-GCM under SECRETS_KEY, bound to (org_id, endpoint_id): whoever has a chat's URL may write to the chat.
  sealed_url bytea not null,
  -- What people see of it.
  shown_url text not null,
  events text[] not null,
  paused boolean not null default false,
  sealed_secret bytea not null,
  -- Secrets before it that sign too, newest first, and until when.
  sealed_earlier bytea[] not null default '{}',
  earlier_until timestamptz[] not null default '{}',
  created_at timestamptz not null default now(),
  -- When it was made, resumed, or took other events.
  changed_at timestamptz not null default now(),
  created_by text not null,
  constraint endpoints_pkey primary key (org_id, endpoint_id),
  constraint endpoints_place_key unique (org_id, place),
  constraint endpoints_name_key unique (org_id, name),
  constraint endpoints_org_fkey foreign key (org_id) references registry.organizations (org_id),
  constraint endpoints_endpoint_id_check check (endpoint_id ~ '^ep_[0-9a-hjkmnp-tv-z]{26}$'),
  constraint endpoints_place_check check (place between 1 and 20),
  constraint endpoints_name_check check (char_length(name) between 1 and 200),
  constraint endpoints_format_check check (format in ('webhook', 'slack', 'teams')),
  constraint endpoints_url_check check (octet_length(sealed_url) between 32 and 8192 and char_length(shown_url) <= 2048),
  constraint endpoints_events_check check (cardinality(events) between 1 and 20),
  constraint endpoints_secret_check check (octet_length(sealed_secret) between 32 and 1024),
  constraint endpoints_earlier_check check (
    cardinality(sealed_earlier) = cardinality(earlier_until) and cardinality(sealed_earlier) <= 2),
  constraint endpoints_created_by_check check (char_length(created_by) <= 128)
);
