// Waits for a condition instead of sleeping.

/**
 * The pause between two checks: 10 ms at first, then a twentieth of the wait so far, so that a long wait costs little.
 */
const POLL_MS = { first: 10, share: 0.05, max: 100 };

/**
 * Resolves with the first truthy value of `condition`; rejects, naming `what`, after `withinMs`. The limit is generous,
 * for conditions that never become true: a machine that is busy for seconds must not break a test.
 */
export async function until<T>(
  what: string,
  condition: () => T | Promise<T>,
  withinMs = 180_000,
): Promise<Exclude<T, false | null | undefined>> {
  const beganMs = performance.now();
  for (;;) {
    const value = await endOf(condition(), what, withinMs);
    if (value) return value as Exclude<T, false | null | undefined>;
    const waitedMs = performance.now() - beganMs;
    if (waitedMs > withinMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await elapse(Math.min(Math.max(POLL_MS.first, waitedMs * POLL_MS.share), POLL_MS.max));
  }
}

/** A look that never ends would keep the whole run waiting. */
function endOf<T>(look: T | Promise<T>, what: string, withinMs: number): T | Promise<T> {
  if (!(look instanceof Promise)) return look;
  return new Promise((resolve, reject) => {
    const end = setTimeout(() => reject(new Error(`one look took more than ${withinMs} ms: ${what}`)), withinMs);
    look.then(resolve, reject).finally(() => clearTimeout(end));
  });
}

/** For tests of a span of time itself: how long something idles, or a fault lasts. */
export function elapse(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
