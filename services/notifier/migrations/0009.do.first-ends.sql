-- When a delivery that was sent again by hand had ended first: its retention runs from then on. Null: it was not.
alter table notifier.deliveries add column first_ended_at timestamptz;
