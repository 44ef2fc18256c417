-- Who may answer an open question, as far as people_json leaves it out: lists say of each question whether their reader may
-- answer it. Null: every member, or a node of the release before wrote the row.
alter table scheduler.questions add column answerers_json text;
