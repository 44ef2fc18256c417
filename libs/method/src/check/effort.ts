// Owns what one check may cost: steps of work are counted, and the check ends where they are used up.

/** Bounds of one check. A step is about 25 ns of a common server core. */
export interface Effort {
  readonly stepsMax: number;
  /** Bytes of JSON that defaults may add. */
  readonly addedBytesMax: number;
}

/** Half a second at most: for the processes that run a method's own code. */
export const FULL_EFFORT: Effort = { stepsMax: 20_000_000, addedBytesMax: 4 * 1024 * 1024 };

/** Within one turn of a service's event loop, about 10 ms, and half as much again for the findings. */
export const TURN_EFFORT: Effort = { stepsMax: 300_000, addedBytesMax: 256 * 1024 };

/** A check ended before it was done. */
export class EffortExhausted extends Error {
  constructor(
    readonly code: 'too_costly' | 'too_large' | 'too_long',
    message: string,
  ) {
    super(message);
  }
}

/**
 * The remainder of an effort. Schemas of the language nest far less than `LEVELS_MAX`; one that refers to itself does
 * not end.
 */
export class Meter {
  static readonly LEVELS_MAX = 1_000;
  #stepsLeft: number;
  #bytesLeft: number;

  constructor(effort: Effort) {
    this.#stepsLeft = effort.stepsMax;
    this.#bytesLeft = effort.addedBytesMax;
  }

  /** Takes `steps`. Call it before the work it pays for. Throws `EffortExhausted`. */
  charge(steps: number): void {
    this.#stepsLeft -= steps;
    if (this.#stepsLeft < 0) throw tooCostly();
  }

  /** Pays for JSON that a default adds, before it is added. Throws `EffortExhausted`. */
  chargeBytes(bytes: number): void {
    this.#bytesLeft -= bytes;
    if (this.#bytesLeft < 0) throw new EffortExhausted('too_large', 'is too large with its defaults');
  }
}

export function tooCostly(): EffortExhausted {
  return new EffortExhausted('too_costly', 'takes more work to check than one value may');
}
