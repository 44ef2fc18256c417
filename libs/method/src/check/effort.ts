// Owns what one check may cost: steps of work are counted, and the check ends where they are used up.
import { compilePattern, type Pattern } from '../types/pattern.ts';

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

// What patterns cost in a check: the text's length times the program's size, and the program's compilation.

const STEPS_A_MATCH = 60;
const STEPS_AN_INSTRUCTION_MADE = 100;
// An instruction is entered once a match, and looked at once a character at worst.
const STEPS_AN_INSTRUCTION_ENTERED = 1;
const INSTRUCTIONS_A_STEP = 2;

/** Compiles at the first use: most patterns of a large schema are never asked. A pattern that cannot be read finds nothing. */
export function boundedPattern(source: string): (text: string, meter: Meter) => boolean {
  let pattern: Pattern | null | undefined;
  return (text, meter) => {
    if (pattern === undefined) {
      pattern = patternOf(source);
      pay(meter, (pattern?.size ?? 0) * STEPS_AN_INSTRUCTION_MADE);
    }
    if (pattern === null) return false;
    const { size } = pattern;
    pay(meter, STEPS_A_MATCH + size * STEPS_AN_INSTRUCTION_ENTERED + (text.length * size) / INSTRUCTIONS_A_STEP);
    return pattern.test(text);
  };
}

function patternOf(source: string): Pattern | null {
  try {
    return compilePattern(source);
  } catch {
    return null;
  }
}

function pay(meter: Meter, steps: number): void {
  try {
    meter.charge(steps);
  } catch (error) {
    if (!(error instanceof EffortExhausted)) throw error;
    throw new EffortExhausted('too_long', 'the texts are too long for the patterns they must match');
  }
}
