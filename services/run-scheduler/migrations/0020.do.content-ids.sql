-- In steps.
-- What is sealed for one run must open in no other.

drop index concurrently if exists scheduler.runs_by_content;
create unique index concurrently runs_by_content on scheduler.runs (org_id, content_id) where content_id is not null;
