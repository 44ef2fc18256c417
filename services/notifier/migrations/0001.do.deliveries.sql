-- Webhook deliveries and what came of each try.

create schema if not exists notifier;

create table notifier.deliveries (
  org_id      text        not null,
  delivery_id text        not null,
  run_id      text        not null,
  -- The run's revision that caused it; first tries of one run go out in this order.
  seq         bigint      not null,
  url         text        not null,
  -- In place of the URL in the unique key: an index entry has room for 2.7 kB, a URL may need more.
  url_sha256  bytea       not null,
  host        text        not null,
  event       text        not null,
  key_id      text        not null,
  -- Sent byte for byte at every try.
  body        bytea       not null,
  status      text        not null default 'pending',
  tries       integer     not null default 0,
  -- Where a delivery sent again by hand falls back to.
  resent_from text,
  -- Pending: not tried before this time. A claim moves it to the claim's end, so a dead node's deliveries fall due.
  due_at      timestamptz not null default clock_timestamp(),
  claim       text,
  created_at  timestamptz not null,
  ended_at    timestamptz,
  primary key (org_id, delivery_id),
  constraint deliveries_once unique (org_id, run_id, seq, url_sha256),
  constraint deliveries_status check (status in ('pending', 'delivered', 'exhausted', 'stopped')),
  constraint deliveries_ended check ((status = 'pending') = (ended_at is null)),
  constraint deliveries_claimed check (claim is null or status = 'pending'),
  constraint deliveries_resent check (resent_from is null or (status = 'pending' and resent_from <> 'pending' and tries > 0)),
  constraint deliveries_tried check (tries >= 0 and (status = 'pending' or tries > 0))
);

create index deliveries_due on notifier.deliveries (due_at) where status = 'pending';
create index deliveries_ended on notifier.deliveries (ended_at) where status <> 'pending';

create table notifier.delivery_tries (
  org_id       text        not null,
  delivery_id  text        not null,
  try          integer     not null,
  started_at   timestamptz not null,
  duration_ms  integer     not null,
  -- 0: no answer; then error says why.
  http_status  integer     not null,
  error        text        not null,
  -- The answer's first KiB.
  answer_start text        not null,
  primary key (org_id, delivery_id, try),
  foreign key (org_id, delivery_id) references notifier.deliveries on delete cascade
);
