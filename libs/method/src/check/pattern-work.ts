// Owns what patterns cost in a check: the text's length times the program's size, and the program's compilation.
import { compilePattern, type Pattern } from '../types/pattern.ts';
import { EffortExhausted, type Meter } from './effort.ts';

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
