-- In steps.
-- Few rows at any time: those of the last moments, or of an outage of the registry.

drop index concurrently if exists scheduler.questions_unrecorded;
create index concurrently questions_unrecorded on scheduler.questions (unrecorded_at_ms) where unrecorded_at_ms is not null;
