-- Each event keeps when it is to be sent next, so that a sweep reads only what is due, and of each organization a share.
alter table scheduler.outbox
  add column send_at_ms bigint not null default 0,
  -- The bus took it in a sweep. What is sent with its commit costs no second statement and stays false.
  add column sent boolean not null default false;
create index outbox_due on scheduler.outbox (org_id, send_at_ms) include (shard, run_id);
-- The events of a run go out in their order.
create index outbox_by_run on scheduler.outbox (run_id, org_id, seq);
alter table scheduler.outbox set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
