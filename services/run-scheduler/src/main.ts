// The run-scheduler's process: start, serve, and end on SIGTERM or SIGINT with its shards given away.
import 'reflect-metadata/lite';
import { createLogger } from '@methods/logging/logger';
import closeWithGrace from 'close-with-grace';
import { composeRunScheduler } from './composition.ts';
import { readConfig } from './config.ts';

const STOP_LIMIT_MS = 15_000;

async function main(): Promise<void> {
  const config = readConfig();
  const logger = createLogger({ name: 'run-scheduler', level: config.logLevel });
  const node = composeRunScheduler(config, logger);
  closeWithGrace({ delay: STOP_LIMIT_MS, logger: false }, async ({ err, signal }) => {
    if (err !== undefined) logger.error({ err }, 'stopping after a fault');
    else logger.info({ signal }, 'stopping');
    await node.stop();
  });
  await node.start();
  logger.info({ node: node.nodeId, port: node.port, workerPort: node.workerPort }, 'serving');
}

main().catch((error: unknown) => {
  process.stderr.write(`run-scheduler: ${error instanceof Error ? error.message : 'failed for an unknown reason'}\n`);
  process.exit(1);
});
