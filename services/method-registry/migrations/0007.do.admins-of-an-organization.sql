-- In steps.
-- Whether an organization has another admin is one look, however many members it has.

drop index concurrently if exists registry.users_admins;
create index concurrently users_admins on registry.users (org_id, user_id)
  where coalesce(given_role, first_role) = 'admin';
