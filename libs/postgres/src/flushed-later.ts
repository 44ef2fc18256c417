// For statements whose loss costs a repeat without effect, such as the removal of an event that was taken: their
// commit does not wait for the disk. Postgres flushes it within a moment, or with the next commit that waits; commits of
// other organizations wait for the same disk.

/** A table of one row for the `from` or `using` of a statement. It concerns the transaction of the statement only. */
export const FLUSHED_LATER = `(select set_config('synchronous_commit', 'off', true)) as flushed_later`;
