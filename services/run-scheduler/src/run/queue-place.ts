// A run's place among the queued runs of its queue.
import type { Run } from './run.ts';

/**
 * Runs are claimed in the order of this time, the first to be queued first. A run keeps its place for good: one that
 * was given back, answered, woken or lost its worker has begun, and goes before those that have not. `queued_ms` still
 * counts from when it was queued again.
 */
export function queuePlaceMs({ facts }: Pick<Run, 'facts'>): number {
  return facts.createdAtMs;
}
