// A signal that also aborts after a time.

/** The reason after the time is an error with the name `TimeoutError`. Keeps no process alive. */
export function withTimeLimit(signal: AbortSignal, ms: number): AbortSignal {
  const limit = AbortSignal.timeout(ms);
  // A combined signal does not keep its sources. Node 20 collects a time-out without a listener, which then never comes.
  limit.addEventListener('abort', () => {}, { once: true });
  return AbortSignal.any([signal, limit]);
}
