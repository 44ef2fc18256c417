-- In steps.
-- The indexes of filtered lists of deliveries, and the one that a claim looks for earlier events by.

drop index concurrently if exists notifier.deliveries_listed;
create index concurrently deliveries_listed on notifier.deliveries (org_id, kind, status, delivery_id);

drop index concurrently if exists notifier.deliveries_of_endpoint;
create index concurrently deliveries_of_endpoint on notifier.deliveries (org_id, endpoint_id, status, delivery_id)
  where endpoint_id <> '';

drop index concurrently if exists notifier.deliveries_untried_of_target;
create index concurrently deliveries_untried_of_target on notifier.deliveries (org_id, run_id, endpoint_id, seq)
  where status = 'pending' and tries = 0;

drop index concurrently if exists notifier.deliveries_untried;

alter table notifier.deliveries validate constraint deliveries_kind;
