-- Runs in device mode. content_id: chosen by the client, 32 hex digits; null: not in device mode. sealed_by: the fingerprint
-- of the content key that sealed the inputs, in hex. Inputs, outs, questions and answers of such runs are envelopes.
alter table scheduler.runs add column content_id text;
alter table scheduler.runs add column sealed_by text;
alter table scheduler.runs add constraint runs_device_check check (
  (content_id is null) = (sealed_by is null) and content_id ~ '^[0-9a-f]{32}$' and sealed_by ~ '^[0-9a-f]{32}$') not valid;
