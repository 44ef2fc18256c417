-- In steps.
-- Ordered by its question first: with the organization first, a plan made while the table was empty reads the answers of
-- a run through it, and passes over every question of the organization.

drop index concurrently if exists scheduler.questions_of_id;
create index concurrently questions_of_id on scheduler.questions (question_id, org_id);
drop index concurrently if exists scheduler.questions_by_id;
