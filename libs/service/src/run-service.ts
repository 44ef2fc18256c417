// The life of one of our processes: reads the configuration, starts, serves, and ends on a signal after finishing its
// pending work. A fault at the start is one sentence and exit code 1.
import { LogOutput } from '@methods/logging/log-output';
import { createLogger, type Logger, type LogLevel } from '@methods/logging/logger';
import closeWithGrace from 'close-with-grace';

export interface Service {
  /** @throws an Error whose message is for the operator. */
  start(): Promise<void> | void;
  stop(): Promise<void> | void;
  /** Where it serves; only after `start`. */
  readonly port?: number;
}

interface ServiceProcess<Config extends { readonly logLevel: LogLevel }> {
  readonly name: string;
  /** @throws ConfigError with one line a fault. */
  readonly readConfig: () => Config;
  readonly compose: (config: Config, logger: Logger) => Service;
  /** After this a stop that hangs is ended. */
  readonly stopLimitMs?: (config: Config) => number;
}

const STOP_LIMIT_MS = 15_000;
/** For a reader of the log that is slow. */
const LOG_WRITTEN_MS = 500;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function runService<Config extends { readonly logLevel: LogLevel }>(process_: ServiceProcess<Config>): void {
  run(process_).catch((error: unknown) => {
    const sentence = error instanceof Error ? error.message : 'failed for an unknown reason';
    process.stderr.write(`${process_.name}: ${sentence}\n`);
    process.exit(1);
  });
}

async function run<Config extends { readonly logLevel: LogLevel }>(process_: ServiceProcess<Config>): Promise<void> {
  const config = process_.readConfig();
  const output = new LogOutput();
  const logger = createLogger({ name: process_.name, level: config.logLevel, destination: output });
  const service = process_.compose(config, logger);
  let stopping = false;
  // No timer of ours keeps a process alive, and a worker between two connections has nothing else that would: without
  // this it ended, and its runs waited for their leases.
  setInterval(() => {}, LONGEST_TIMER_MS);
  process.on('unhandledRejection', (reason) => {
    // Thrown here it is an uncaught exception, which ends the process in order.
    if (!isStrayConnectionFault(reason)) throw reason;
    logger.error({ error: reason }, 'a connection was lost and nothing awaited it');
  });
  // A second signal means that a person has waited long enough: close-with-grace then ends the process.
  const options = {
    delay: process_.stopLimitMs?.(config) ?? STOP_LIMIT_MS,
    logger: false as const,
    skip: ['unhandledRejection' as const],
  };
  closeWithGrace(options, async ({ err, signal }) => {
    stopping = true;
    if (err === undefined) logger.info({ signal }, 'stopping');
    else logger.error({ err }, 'stopping after a fault');
    await service.stop();
    await output.written(LOG_WRITTEN_MS);
  });
  try {
    await service.start();
  } catch (error) {
    // Stopped during its start: not a fault.
    if (!stopping) throw error;
    return;
  }
  logger.info(service.port === undefined ? {} : { port: service.port }, 'serving');
}

/** Errors of the system, of the Postgres client and of the NATS client. */
const OF_CONNECTION = /^(E(?!RR_)[A-Z0-9_]+|CONNECT_TIMEOUT|CONNECTION_[A-Z_]+|DISCONNECT|TIMEOUT|503)$/;

/**
 * Decides what a rejected promise that nothing awaits means for the process. A fault of ours may have ended a loop
 * permanently, and a new process is better than a half-working one. A lost connection is not such a fault: a library's
 * hidden promise rejects in every process of the fleet at the same time, and each of our own uses of that connection
 * fails by itself.
 */
function isStrayConnectionFault(reason: unknown): boolean {
  const code = (reason as { code?: unknown } | null)?.code;
  return reason instanceof Error && typeof code === 'string' && OF_CONNECTION.test(code);
}
