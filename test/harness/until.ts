// Waiting for a condition, in place of sleeping.

const POLL_MS = 10;

/**
 * Resolves with the first truthy value of `condition`; rejects, naming `what`, after `withinMs`. The deadline is for what
 * never comes: a machine that does something else for seconds does not break a test.
 */
export async function until<T>(
  what: string,
  condition: () => T | Promise<T>,
  withinMs = 60_000,
): Promise<Exclude<T, false | null | undefined>> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const value = await condition();
    if (value) return value as Exclude<T, false | null | undefined>;
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** For tests whose subject is a span of time itself: how long something idles, or a fault lasts. */
export function elapse(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
