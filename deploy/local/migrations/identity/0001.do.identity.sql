-- What the development identity provider remembers: its protocol's objects, and the people who signed in.

create schema if not exists identity;

create table identity.objects (
  -- The kind of object in oidc-provider's words: Session, Grant, RefreshToken, Client ...
  model text not null,
  id text not null,
  -- JSON as text: what a client sent may hold characters that jsonb refuses.
  payload text not null,
  grant_id text,
  user_code text,
  uid text,
  consumed_at timestamptz,
  expires_at timestamptz not null,
  constraint objects_pkey primary key (model, id)
);
create index objects_grant on identity.objects (grant_id) where grant_id is not null;
create index objects_user_code on identity.objects (model, user_code) where user_code is not null;
create index objects_uid on identity.objects (model, uid) where uid is not null;
create index objects_expiry on identity.objects (expires_at);

create table identity.accounts (
  account_id text not null,
  email text not null,
  name text not null,
  org_id text not null,
  org_name text not null,
  -- Chosen at the last sign-in; null: the service decides.
  role text,
  constraint accounts_pkey primary key (account_id),
  constraint accounts_role_check check (role in ('viewer', 'member', 'admin'))
);
