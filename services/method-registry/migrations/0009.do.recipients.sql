-- In steps.
-- Who gets mail: people whose address the issuer vouches for and whose access has not been ended, in their
-- organization's zone.

alter table registry.users
  add column if not exists email_verified boolean not null default false,
  add column if not exists disabled_at timestamptz;

alter table registry.settings add column if not exists time_zone text not null default 'UTC';

drop index concurrently if exists registry.users_by_address;
create index concurrently users_by_address on registry.users (org_id, lower(email), user_id)
  where email_verified and disabled_at is null;

drop index concurrently if exists registry.users_by_role;
create index concurrently users_by_role on registry.users (org_id, coalesce(given_role, first_role), user_id)
  where email_verified and disabled_at is null;

-- Whether an organization has another admin: those whose access has ended do not count.
drop index concurrently if exists registry.users_enabled_admins;
create index concurrently users_enabled_admins on registry.users (org_id, user_id)
  where coalesce(given_role, first_role) = 'admin' and disabled_at is null;
