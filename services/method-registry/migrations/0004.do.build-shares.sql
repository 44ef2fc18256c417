-- Builds of many organizations: which organization is next, and of its builds which.

alter table registry.builds
  -- Large recordings take longer, so they never have all places. True where a process before this one queued it.
  add column is_large boolean not null default true,
  -- Of the last attempt: the organization served longest ago is next.
  add column begun_at timestamptz;

update registry.builds b set is_large = u.size_bytes > 4194304
from registry.uploads u
where u.org_id = b.org_id and u.upload_id = b.upload_id and b.due_at is not null;

-- The queued builds of an organization have their time behind them, those under way before them.
create index builds_next on registry.builds (org_id, is_large, due_at) where due_at is not null;
create index builds_begun on registry.builds (org_id, begun_at) where begun_at is not null;
