// Counts the connections that a bus has lost, from its log.
import { type Logger, silentLogger } from '@methods/logging/logger';

export class LostConnections {
  count = 0;
  readonly logger: Logger = {
    ...silentLogger,
    warn: (_fields, message) => {
      if (message === 'NATS connection lost') this.count++;
    },
  };
}
