// The figures of the head line, made of counts over time. Pure.
import type { Counts, Statistics } from './watch.ts';

const MINUTE_MS = 60_000;

export function allOf({ queued, running, waiting, succeeded, failed, cancelled }: Counts): number {
  return queued + running + waiting + succeeded + failed + cancelled;
}

/** Null: none has ended. */
export function successShare({ succeeded, failed }: Counts): number | null {
  return succeeded + failed === 0 ? null : succeeded / (succeeded + failed);
}

/** Of the last whole part and the present one, which has just begun. */
export function runsAMinute(
  { buckets, bucket_ms: bucketMs }: Pick<Statistics, 'buckets' | 'bucket_ms'>,
  nowMs: number,
): number {
  const last = buckets.slice(-2);
  const [first] = last;
  if (first === undefined) return 0;
  const minutes = Math.max(1, Math.min(nowMs - Date.parse(first.at), last.length * bucketMs) / MINUTE_MS);
  return last.reduce((sum, bucket) => sum + allOf(bucket), 0) / minutes;
}
