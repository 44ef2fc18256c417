-- A long queue that shrinks is vacuumed early: reads of its head pass over the rows that have left it.
alter table scheduler.queue set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
