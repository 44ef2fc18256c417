-- Retention is an organization's own: what has ended too long ago stands at the front of its organization's part.
drop index notifier.deliveries_ended;
create index deliveries_ended on notifier.deliveries (org_id, ended_at) where status <> 'pending';
