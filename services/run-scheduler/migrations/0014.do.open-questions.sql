-- In steps.
-- Questions that are open now; runs go on meanwhile. A JSON function refuses a text with an escaped NUL or half of a pair:
-- such a question is listed when it changes. A row that an earlier node leaves open is closed by a sweep.

insert into scheduler.questions (org_id, question_id, run_id, method, version_id, step, answer_by, prompt, asked_at_ms,
  due_at_ms, state)
select org_id, question_json::json->>'id', run_id, method, version_id, question_json::json->>'step', answer_by,
  left(question_json::json->>'prompt', 500), state_since_ms, (question_json::json->>'deadlineAtMs')::numeric::bigint, 'open'
from scheduler.runs where status = 'waiting' and question_json !~ '\\u(0000|d[89a-f])'
on conflict do nothing;
