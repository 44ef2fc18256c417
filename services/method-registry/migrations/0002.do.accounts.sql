-- People, their sign-ins and sessions, an organization's settings, and the log of who did what.

create table registry.users (
  org_id text not null,
  user_id text not null,
  -- The issuer's id of the person; the issuer is the organization's.
  subject text not null,
  email text not null,
  name text not null,
  -- What the issuer or the first sight gave, and what an admin made of it since, which wins.
  first_role text not null,
  given_role text,
  created_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  constraint users_pkey primary key (org_id, user_id),
  constraint users_subject_key unique (org_id, subject),
  constraint users_org_fkey foreign key (org_id) references registry.organizations (org_id),
  constraint users_user_id_check check (user_id ~ '^usr_[0-9a-hjkmnp-tv-z]{26}$'),
  constraint users_subject_check check (char_length(subject) between 1 and 256),
  constraint users_email_check check (char_length(email) <= 320),
  constraint users_name_check check (char_length(name) <= 256),
  constraint users_first_role_check check (first_role in ('viewer', 'member', 'admin')),
  constraint users_given_role_check check (given_role in ('viewer', 'member', 'admin'))
);

-- The organization's first user is its admin. One row says who that is, so that of many first sights at once one wins.
alter table registry.organizations
  add column first_user_id text,
  add constraint organizations_first_user_fkey foreign key (org_id, first_user_id)
    references registry.users (org_id, user_id);

-- A sign-in under way belongs to nobody yet: it is found by the hash of its cookie alone, once.
create table registry.sign_ins (
  sign_in_sha256 bytea not null,
  state text not null,
  nonce text not null,
  code_verifier text not null,
  return_to text not null,
  expires_at timestamptz not null,
  constraint sign_ins_pkey primary key (sign_in_sha256),
  constraint sign_ins_hash_check check (octet_length(sign_in_sha256) = 32),
  constraint sign_ins_texts_check check (
    char_length(state) <= 256 and char_length(nonce) <= 256 and char_length(code_verifier) <= 128
    and char_length(return_to) <= 2048
  )
);
create index sign_ins_expiry on registry.sign_ins (expires_at);

create table registry.sessions (
  org_id text not null,
  user_id text not null,
  -- SHA-256 of the cookie's value; the value itself is never here.
  session_sha256 bytea not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  ended_at timestamptz,
  constraint sessions_pkey primary key (org_id, session_sha256),
  constraint sessions_hash_key unique (session_sha256),
  constraint sessions_user_fkey foreign key (org_id, user_id) references registry.users (org_id, user_id),
  constraint sessions_hash_check check (octet_length(session_sha256) = 32)
);
create index sessions_expiry on registry.sessions (expires_at);

create table registry.settings (
  org_id text not null,
  content_on_devices boolean not null default false,
  retention_days integer not null default 30,
  -- Host names webhooks may go to; empty: any public one.
  webhook_hosts text[] not null default '{}',
  constraint settings_pkey primary key (org_id),
  constraint settings_org_fkey foreign key (org_id) references registry.organizations (org_id),
  constraint settings_retention_check check (retention_days between 1 and 3650),
  constraint settings_webhook_hosts_check check (cardinality(webhook_hosts) <= 100)
);

create table registry.audit (
  org_id text not null,
  -- Sorts by time, like all ids.
  audit_id text not null,
  at timestamptz not null default clock_timestamp(),
  doer_kind text not null,
  doer_id text not null,
  ip text not null,
  request_id text not null,
  action text not null,
  target_kind text not null,
  target_id text not null,
  before jsonb,
  after jsonb,
  constraint audit_pkey primary key (org_id, audit_id),
  constraint audit_org_fkey foreign key (org_id) references registry.organizations (org_id),
  constraint audit_audit_id_check check (audit_id ~ '^aud_[0-9a-hjkmnp-tv-z]{26}$'),
  constraint audit_doer_kind_check check (doer_kind in ('user', 'service_key', 'upload', 'system')),
  constraint audit_texts_check check (
    char_length(doer_id) <= 128 and char_length(ip) <= 64 and char_length(request_id) <= 128
    and char_length(action) between 1 and 64 and char_length(target_kind) between 1 and 32 and char_length(target_id) <= 128
  )
);
-- The log is read newest first, as a whole or by one of these.
create index audit_action_idx on registry.audit (org_id, action, audit_id desc);
create index audit_target_idx on registry.audit (org_id, target_id, audit_id desc);
create index audit_doer_idx on registry.audit (org_id, doer_id, audit_id desc);

create function registry.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % are only added', tg_table_name using errcode = 'integrity_constraint_violation';
end
$$;

create trigger audit_append_only before update or delete on registry.audit
  for each row execute function registry.refuse_change();
create trigger audit_no_truncate before truncate on registry.audit
  for each statement execute function registry.refuse_change();

alter table registry.service_keys
  add column last_used_at timestamptz,
  add column created_by text not null default '',
  add constraint service_keys_created_by_check check (char_length(created_by) <= 128);

-- How people see whoever is named in created_by, published_by and doer_id; null for nobody known.
create function registry.party_name(org text, party text) returns text language sql stable as $$
  select case
    when party like 'usr\_%' then
      (select coalesce(nullif(u.name, ''), nullif(u.email, ''), u.subject) from registry.users u
        where u.org_id = org and u.user_id = party)
    when party like 'key\_%' then
      (select k.name from registry.service_keys k where k.org_id = org and k.key_id = party)
  end
$$;
