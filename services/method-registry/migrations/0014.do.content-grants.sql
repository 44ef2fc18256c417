-- The content part of one key, wrapped for another one by the holder of both, so that runs sealed with the first can be
-- opened after a rotation. Opaque to the service.

create table registry.content_grants (
  org_id text not null,
  -- The key that gets the content part, and the one whose it is.
  key_id text not null,
  from_key_id text not null,
  wrapped bytea not null,
  granted_at timestamptz not null default now(),
  granted_by text not null,
  constraint content_grants_pkey primary key (org_id, key_id, from_key_id),
  constraint content_grants_key_fkey foreign key (org_id, key_id) references registry.service_keys (org_id, key_id),
  constraint content_grants_from_fkey foreign key (org_id, from_key_id) references registry.service_keys (org_id, key_id),
  constraint content_grants_other_check check (key_id <> from_key_id),
  constraint content_grants_wrapped_check check (octet_length(wrapped) between 1 and 1024),
  constraint content_grants_granted_by_check check (char_length(granted_by) <= 128)
);
