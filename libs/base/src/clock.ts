// Time as a parameter: everything that measures or waits takes a Clock, so that tests can control it.

export interface Clock {
  /** Wall time in ms since the epoch. It jumps, so never measure spans with it. */
  wallMs(): number;
  /** Monotonic time in ms from an arbitrary start. */
  monotonicMs(): number;
  /** Calls once after at least `delayMs`; the timer never keeps a process alive. */
  after(delayMs: number, run: () => void): Timer;
}

/** The name under which a process's container holds its clock. */
export const Clock: unique symbol = Symbol('Clock');

export interface Timer {
  cancel(): void;
}

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, run) {
    // What is due already is not a mistake, but Node warns about a negative delay.
    const handle = setTimeout(run, Math.max(delayMs, 0));
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};
