// The identity provider's parts and their start order.
import { systemClock } from '@methods/base/clock';
import { startAll, stopAll } from '@methods/base/stoppable';
import type { Logger } from '@methods/logging/logger';
import { ServiceDatabase } from '@methods/postgres/service-database';
import type { Service } from '@methods/service/run-service';
import { AccountStore } from './account.ts';
import type { IdentityConfig } from './config.ts';
import { identityProvider } from './identity-provider.ts';
import { IdentityServer } from './identity-server.ts';
import { Interactions } from './interactions.ts';
import { providerKeys, tokenSecret } from './key-files.ts';
import { objectStore, Sweep, sweepObjects } from './object-store.ts';

const CONNECTIONS_MAX = 4;

export function composeIdentity(config: IdentityConfig, logger: Logger): Service {
  const database = new ServiceDatabase({
    url: config.postgresUrl.reveal(),
    applicationName: 'identity-provider',
    schema: 'identity',
    migrations: new URL('../../migrations/identity/', import.meta.url),
    logger,
    connectionsMax: CONNECTIONS_MAX,
  });
  const sweep = new Sweep(() => sweepObjects(database.sql), systemClock, logger);
  let server: IdentityServer | null = null;
  return {
    async start() {
      const [keys] = await Promise.all([providerKeys(config.folder), startAll([database, sweep])]);
      const accounts = new AccountStore(database.sql);
      const identity = identityProvider({ config, keys, accounts, objects: objectStore(database.sql) });
      const interactions = new Interactions(identity.provider, accounts);
      const secret = tokenSecret(config.folder);
      const { issuer, port } = config;
      server = new IdentityServer({ issuer, port, identity, interactions, tokenSecret: secret, logger });
      await server.start();
    },
    async stop() {
      await stopAll([database, sweep, ...(server === null ? [] : [server])]);
    },
    port: config.port,
  };
}
