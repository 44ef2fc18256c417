-- In steps.
-- The indexes of claims by turns: deliveries are many, and webhooks must go on meanwhile.

drop index concurrently if exists notifier.deliveries_of_host;
create index concurrently deliveries_of_host on notifier.deliveries (org_id, host, due_at)
  where status = 'pending' and not waits;

drop index concurrently if exists notifier.deliveries_untried;
create index concurrently deliveries_untried on notifier.deliveries (org_id, run_id, seq)
  where status = 'pending' and tries = 0;

-- A claim of the release before reads deliveries_of_host whole instead: slower, for as long as the two run side by side.
drop index concurrently if exists notifier.deliveries_due;
