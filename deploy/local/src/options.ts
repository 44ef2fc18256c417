// The options of `npm start`. Every fault is one sentence.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

export interface Options {
  /** Run the demonstration, print its result, stop everything. */
  readonly once: boolean;
  readonly demo: boolean;
  /** Folder of `.method` files to publish instead of the examples. */
  readonly methods: string | null;
  /** null: the default port, or a free one where it is taken. */
  readonly port: number | null;
  readonly dataDir: string;
  readonly schedulers: number;
  readonly gateways: number;
  readonly workers: number;
  readonly concurrency: number;
  readonly json: boolean;
  /** A mailbox on this machine takes the mail of the stack, and an admin with an address gets it. */
  readonly mail: boolean;
  readonly reset: boolean;
  readonly help: boolean;
}

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export const usage = `Usage: npm start -- [options]

  --once             run the demonstration, print its result, stop everything
  --no-demo          start, publish the examples, serve
  --methods DIR      publish every .method file of DIR instead of the examples
  --port N           the gateway's port (0: a free one)
  --data-dir DIR     where everything is kept (default: .data)
  --schedulers N     run-scheduler nodes (1 to 9)
  --gateways N       gateways (1 to 9)
  --workers N        worker processes (0 to 32)
  --concurrency N    runs one worker executes side by side
  --mail             with --json too: take mail into a mailbox of this machine
  --json             one line on standard output when ready, nothing else
  --reset            forget everything kept in the data folder first
`;

export function readOptions(args: readonly string[], cwd: string): Options {
  let values: Record<string, string | boolean | undefined>;
  try {
    values = parseArgs({
      args: [...args],
      strict: true,
      allowPositionals: false,
      options: {
        once: { type: 'boolean' },
        'no-demo': { type: 'boolean' },
        methods: { type: 'string' },
        port: { type: 'string' },
        'data-dir': { type: 'string' },
        schedulers: { type: 'string' },
        gateways: { type: 'string' },
        workers: { type: 'string' },
        concurrency: { type: 'string' },
        json: { type: 'boolean' },
        mail: { type: 'boolean' },
        reset: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? (error.message.split('. ')[0] ?? '') : 'unknown option');
  }
  const methods = text(values.methods);
  return {
    once: values.once === true,
    // A folder of one's own has no example for the demonstration.
    demo: values['no-demo'] !== true && methods === null && values.json !== true,
    methods: methods === null ? null : resolve(cwd, methods),
    port: values.port === undefined ? null : number('port', values.port, 0, 65_535),
    dataDir: resolve(cwd, text(values['data-dir']) ?? '.data'),
    schedulers: number('schedulers', values.schedulers ?? '1', 1, 9),
    gateways: number('gateways', values.gateways ?? '1', 1, 9),
    workers: number('workers', values.workers ?? '1', 0, 32),
    concurrency: number('concurrency', values.concurrency ?? '16', 1, 1_000),
    json: values.json === true,
    mail: values.mail === true || values.json !== true,
    reset: values.reset === true,
    help: values.help === true,
  };
}

function text(value: string | boolean | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function number(name: string, value: string | boolean, min: number, max: number): number {
  const parsed = typeof value === 'string' && /^\d{1,6}$/.test(value) ? Number(value) : Number.NaN;
  if (!(parsed >= min && parsed <= max)) throw new UsageError(`--${name} takes a whole number from ${min} to ${max}.`);
  return parsed;
}
