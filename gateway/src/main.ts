// The gateway's process: start, serve, and end on SIGTERM or SIGINT with what is under way answered.
import 'reflect-metadata/lite';
import { createLogger } from '@methods/logging/logger';
import { composeGateway } from './composition.ts';
import { readConfig } from './config.ts';

const STOP_LIMIT_MS = 15_000;

async function main(): Promise<void> {
  const config = readConfig();
  const logger = createLogger({ name: 'gateway', level: config.logLevel });
  const gateway = composeGateway(config, logger);

  let stopping = false;
  async function stop(signal: string): Promise<void> {
    // A second signal is a person who has waited long enough.
    if (stopping) process.exit(1);
    stopping = true;
    logger.info({ signal }, 'stopping');
    setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref();
    await gateway.stop();
    process.exit(0);
  }
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => stop(signal).catch(fail));

  try {
    await gateway.start();
  } catch (error) {
    // Stopped in the middle of its start: no fault.
    if (!stopping) throw error;
    return;
  }
  logger.info({ port: gateway.port }, 'serving');
}

/** One sentence for the operator. */
function fail(error: unknown): void {
  process.stderr.write(`gateway: ${error instanceof Error ? error.message : 'failed for an unknown reason'}\n`);
  process.exit(1);
}

main().catch(fail);
