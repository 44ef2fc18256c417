// A run's place among the queued runs of its queue.
import type { Run } from './run.ts';

/**
 * Returns the time by which runs are claimed, the run that was queued first before others. A run keeps its place
 * permanently: one that was given back, answered, woken or lost its worker has begun, and precedes those that have not.
 * `queued_ms` still counts from when it was queued again.
 */
export function queuePlaceMs({ facts }: Pick<Run, 'facts'>): number {
  return facts.createdAtMs;
}
