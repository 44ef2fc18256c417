-- Links that open one question for one recipient. The token itself is never here, only its SHA-256.

create table notifier.answer_links (
  org_id       text        not null,
  token_sha256 bytea       not null,
  run_id       text        not null,
  question_id  text        not null,
  -- An e-mail address in lower case, or the name of a chat's endpoint.
  recipient    text        not null,
  -- The member who has the address; empty for a chat.
  user_id      text        not null default '',
  made_at      timestamptz not null default now(),
  expires_at   timestamptz not null,
  used_at      timestamptz,
  -- When the question or the recipient's access ended.
  ended_at     timestamptz,
  primary key (org_id, token_sha256),
  -- A link is found by its token: its organization follows from it.
  constraint answer_links_token_key unique (token_sha256),
  constraint answer_links_hash_check check (octet_length(token_sha256) = 32),
  constraint answer_links_recipient_check check (char_length(recipient) between 1 and 320)
);
create index answer_links_of_run on notifier.answer_links (org_id, run_id) where used_at is null and ended_at is null;
create index answer_links_expiry on notifier.answer_links (expires_at);
