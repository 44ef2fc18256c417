// The options of `npm run seed`. Every fault is one sentence.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

export interface SeedOptions {
  /** null: the only stack that runs. */
  readonly dataDir: string | null;
  readonly runs: number;
  readonly methods: number;
  readonly questions: number;
}

export class SeedUsageError extends Error {
  override readonly name = 'SeedUsageError';
}

export const seedUsage = `Usage: npm run seed -- [options]

Fills the organization Local of a running local stack with made-up methods and runs, to look at and to measure with.
Methods, keys and their versions come through the HTTP API. Runs are written straight into the tables of the stack: use
it on a stack whose data does not matter. Another call adds more.

  --runs N           runs in all states, of the last 29 days (default: 100000)
  --methods N        methods (default: 200)
  --questions N      open questions, part of the runs (default: 300)
  --data-dir DIR     which stack, where several run
`;

const TEXT = { type: 'string' } as const;
const DEFAULTS = { runs: 100_000, methods: 200, questions: 300 } as const;
const MAX = { runs: 2_000_000, methods: 1_000, questions: 5_000 } as const;

/** @throws SeedUsageError */
export function readSeedOptions(args: readonly string[], cwd: string): SeedOptions | 'help' {
  const values = parsed(args);
  if (values.help === true) return 'help';
  const count = (name: keyof typeof DEFAULTS): number => {
    const text = values[name] ?? String(DEFAULTS[name]);
    const value = typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : 0;
    if (value < 1 || value > MAX[name]) throw new SeedUsageError(`--${name} is a number from 1 to ${MAX[name]}.`);
    return value;
  };
  const [runs, methods, questions] = [count('runs'), count('methods'), count('questions')];
  if (questions > runs) throw new SeedUsageError('--questions is at most --runs.');
  const dataDir = values['data-dir'];
  return { runs, methods, questions, dataDir: typeof dataDir === 'string' ? resolve(cwd, dataDir) : null };
}

function parsed(args: readonly string[]): Record<string, string | boolean | undefined> {
  try {
    return parseArgs({
      args: [...args],
      strict: true,
      allowPositionals: false,
      options: {
        ...{ runs: TEXT, methods: TEXT, questions: TEXT, 'data-dir': TEXT },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    throw new SeedUsageError(error instanceof Error ? `${error.message.split('. ')[0]}.` : 'Unknown option.');
  }
}
