-- Keys are listed in pages, those that live first; without this each page sorts all that were ever made.
create index service_keys_page on registry.service_keys (org_id, (revoked_at is null), key_id);
