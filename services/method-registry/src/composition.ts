// The registry's parts and the order they start in: the one place that touches the container.
import type { Stoppable } from '@methods/base/stoppable';
import { startAll, stopAll } from '@methods/base/stoppable';
import { Bus } from '@methods/bus/connection';
import type { Logger } from '@methods/logging/logger';
import { ServiceDatabase } from '@methods/postgres/service-database';
import { MethodRegistryService } from '@methods/proto/registry/v1/method_registry_service_pb';
import { RpcServer, served } from '@methods/rpc/server';
import { container, type DependencyContainer } from 'tsyringe';
import { busRegistryChanges } from './bus/bus-registry-changes.ts';
import { RegistryChanges } from './bus/registry-changes.ts';
import type { Config } from './config.ts';
import { SecretsKeyCheck } from './key/secrets-key-check.ts';
import { sealedWebhookSecrets, WebhookSecrets } from './key/webhook-secrets.ts';
import { MethodRegistryRpcs } from './rpc/method-registry-service.ts';
import { KeyStore } from './store/key-store.ts';
import { MethodStore } from './store/method-store.ts';
import { OrganizationStore } from './store/organization-store.ts';
import { PostgresKeyStore } from './store/postgres-key-store.ts';
import { PostgresMethodStore } from './store/postgres-method-store.ts';
import { PostgresOrganizationStore } from './store/postgres-organization-store.ts';
import { PostgresVersionStore } from './store/postgres-version-store.ts';
import { Database } from './store/query.ts';
import { VersionStore } from './store/version-store.ts';

const MIGRATIONS = new URL('../migrations/', import.meta.url);

export interface MethodRegistry extends Stoppable {
  /** Resolves once requests are served. @throws an Error whose message is for the operator. */
  start(): Promise<void>;
  /** The gRPC port; only after `start`. */
  readonly port: number;
}

export function composeMethodRegistry(config: Config, logger: Logger): MethodRegistry {
  const database = new ServiceDatabase({
    url: config.postgresUrl.reveal(),
    applicationName: 'method-registry',
    schema: 'registry',
    migrations: MIGRATIONS,
    logger: logger.child({ part: 'database' }),
  });
  const bus = new Bus({ url: config.natsUrl.reveal(), name: 'method-registry', logger: logger.child({ part: 'bus' }) });
  const parts = child(config, database, busRegistryChanges(bus, logger.child({ part: 'bus' })));
  const server = new RpcServer({
    listen: config.listen,
    services: [served(MethodRegistryService, parts.resolve(MethodRegistryRpcs).handlers())],
    logger: logger.child({ part: 'rpc' }),
  });
  // The server is last: it says it serves only once the schema is there and the secrets can be opened.
  const order: Stoppable[] = [database, parts.resolve(SecretsKeyCheck), bus, server];
  return {
    start: () => startAll(order),
    stop: () => stopAll(order),
    get port() {
      return server.port;
    },
  };
}

function child(config: Config, database: ServiceDatabase, changes: RegistryChanges): DependencyContainer {
  const parts = container.createChildContainer();
  parts.registerInstance(Database, database.sql);
  parts.registerInstance(RegistryChanges, changes);
  parts.registerInstance(WebhookSecrets, sealedWebhookSecrets(Buffer.from(config.secretsKey.reveal(), 'base64')));
  parts.registerSingleton(OrganizationStore, PostgresOrganizationStore);
  parts.registerSingleton(KeyStore, PostgresKeyStore);
  parts.registerSingleton(MethodStore, PostgresMethodStore);
  parts.registerSingleton(VersionStore, PostgresVersionStore);
  return parts;
}
