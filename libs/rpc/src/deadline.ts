// How long the next hop may take: a little less than the caller still waits, so that its refusal arrives in time.

const SHAVE_SHARE = 0.05;
const SHAVE_MS_MIN = 20;

/**
 * The time left for a call made on behalf of one that ends at `deadlineMs` (wall ms; Infinity: none), and never more
 * than `wantedMs`. Not above 0 when there is nothing left.
 */
export function nextHopTimeoutMs(deadlineMs: number, wantedMs: number, nowMs: number = Date.now()): number {
  const leftMs = deadlineMs - nowMs;
  if (leftMs === Number.POSITIVE_INFINITY) return wantedMs;
  return Math.min(wantedMs, leftMs - Math.max(SHAVE_MS_MIN, leftMs * SHAVE_SHARE));
}
