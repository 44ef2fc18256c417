-- The chat that showed a link: its links end with it. Empty for a person, and in rows of the release before.
alter table notifier.answer_links add column endpoint_id text not null default '';
