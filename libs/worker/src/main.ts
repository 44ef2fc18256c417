// The worker's process: connect, work, and on SIGTERM or SIGINT let go of what it holds.
import { systemClock } from '@methods/base/clock';
import { createLogger } from '@methods/logging/logger';
import closeWithGrace from 'close-with-grace';
import { readConfig } from './config.ts';
import { Worker } from './worker.ts';

function main(): void {
  const config = readConfig();
  const logger = createLogger({ name: 'worker', level: config.logLevel });
  const worker = new Worker({
    ...config,
    fetch,
    clock: systemClock,
    logger,
    // Whoever started this process waits for this line.
    onConnected: () => process.stdout.write('{"ready":true}\n'),
  });
  closeWithGrace({ delay: config.drainMs + 10_000, logger: false }, async ({ err, signal }) => {
    if (err !== undefined) logger.error({ err }, 'stopping after a fault');
    else logger.info({ signal }, 'draining');
    await worker.stop();
  });
  worker.start();
}

try {
  main();
} catch (error) {
  process.stderr.write(`worker: ${error instanceof Error ? error.message : 'failed for an unknown reason'}\n`);
  process.exit(1);
}
