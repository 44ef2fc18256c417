-- The program through which a person acted, as it reports itself; empty: none is known.
alter table registry.audit
  add column client text not null default '',
  add constraint audit_client_check check (char_length(client) <= 200) not valid;
