-- Each event keeps when it is to be sent next, so that a sweep reads only what is due, and of each organization a share.
alter table scheduler.outbox
  add column send_at_ms bigint not null default 0,
  -- The bus took it in a sweep. What is sent with its commit costs no second statement and stays false.
  add column sent boolean not null default false;
alter table scheduler.outbox set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
