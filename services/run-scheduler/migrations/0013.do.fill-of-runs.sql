-- As full as before. In pages of 70 % nearly each change finds less room than is to be free and cleans the page first:
-- that took more CPU than it saved in entries of indexes, in batches of ten changes 1.1 of what 85 % takes.
alter table scheduler.runs set (fillfactor = 85);
