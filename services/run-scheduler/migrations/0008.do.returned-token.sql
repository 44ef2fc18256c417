-- The claim of a run that was taken for one that reached no worker, while another claim has followed it: should its worker
-- report after all, the attempt is counted.
alter table scheduler.runs add column returned_token text;
