-- In steps.
-- Whether any member has an address, verified or not: a question's mail goes to an address of no member, too.

drop index concurrently if exists registry.users_by_any_address;
create index concurrently users_by_any_address on registry.users (org_id, lower(email));
