// The notifier's process: start, serve, and end on SIGTERM or SIGINT with what is being sent finished or put back.
import 'reflect-metadata/lite';
import { createLogger } from '@methods/logging/logger';
import closeWithGrace from 'close-with-grace';
import { composeNotifier } from './composition.ts';
import { readConfig } from './config.ts';

const STOP_LIMIT_MS = 15_000;

async function main(): Promise<void> {
  const config = readConfig();
  const logger = createLogger({ name: 'notifier', level: config.logLevel });
  const notifier = composeNotifier(config, logger);
  let stopping = false;
  closeWithGrace({ delay: STOP_LIMIT_MS, logger: false }, async ({ err, signal }) => {
    stopping = true;
    if (err === undefined) logger.info({ signal }, 'stopping');
    else logger.error({ error: err }, 'stopping after a fault');
    await notifier.stop();
  });
  try {
    await notifier.start();
  } catch (error) {
    // Stopped in the middle of its start: no fault.
    if (!stopping) throw error;
    return;
  }
  logger.info({ port: notifier.port }, 'serving');
}

main().catch((error: unknown) => {
  process.stderr.write(`notifier: ${error instanceof Error ? error.message : 'failed for an unknown reason'}\n`);
  process.exit(1);
});
