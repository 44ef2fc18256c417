// The registry's parts and their start order: the only file that uses the container.
import { type Stoppable, startAll, stopAll } from '@methods/base/stoppable';
import { Bus } from '@methods/bus/connection';
import type { Logger } from '@methods/logging/logger';
import { OrganizationReader, readerRole } from '@methods/postgres/organization-reader';
import { ServiceDatabase } from '@methods/postgres/service-database';
import { AccountService } from '@methods/proto/registry/v1/account_service_pb';
import { EndpointService } from '@methods/proto/registry/v1/endpoint_service_pb';
import { MethodRegistryService } from '@methods/proto/registry/v1/method_registry_service_pb';
import { RunRecordService } from '@methods/proto/registry/v1/run_record_service_pb';
import { UploadService } from '@methods/proto/registry/v1/upload_service_pb';
import { RpcServer, served } from '@methods/rpc/server';
import { container, type DependencyContainer } from 'tsyringe';
import { Blobs, openBlobs } from './build/blobs.ts';
import { Builds } from './build/builds.ts';
import { processCompiler, RecordingCompiler } from './build/recording-compiler.ts';
import { busRegistryChanges, RegistryChanges } from './bus/registry-changes.ts';
import type { Config } from './config.ts';
import { EndpointSecrets, sealedEndpointSecrets } from './endpoint/endpoint.ts';
import { sealedWebhookSecrets, WebhookSecrets } from './key/service-key.ts';
import { SourceThreads } from './method/source-threads.ts';
import { AbandonedUploads } from './retention/abandoned-uploads.ts';
import { AccountRpcs } from './rpc/account-service.ts';
import { KnownSources } from './rpc/called-methods.ts';
import { EndpointRpcs } from './rpc/endpoints.ts';
import { MethodRegistryRpcs } from './rpc/method-registry-service.ts';
import {
  accountRequestSizes,
  methodRequestSizes,
  runRecordRequestSizes,
  uploadRequestSizes,
} from './rpc/request-sizes.ts';
import { RunRecordRpcs } from './rpc/run-record-service.ts';
import { UploadRpcs } from './rpc/uploads.ts';
import { AuditStore } from './store/audit-store.ts';
import { BuildStore } from './store/build-store.ts';
import { CreationStore } from './store/creation-store.ts';
import { EndpointStore } from './store/endpoint-store.ts';
import { KeyStore } from './store/key-store.ts';
import { LocalRunStore } from './store/local-run-store.ts';
import { MethodStore } from './store/method-store.ts';
import { OfferStore } from './store/offer-store.ts';
import { OrganizationStore, SettingsStore } from './store/organization-store.ts';
import { RecipientStore } from './store/recipient-store.ts';
import { Database, Reader, registryDatabase } from './store/registry-database.ts';
import { SecretsKeyCheck } from './store/secrets-key-check.ts';
import { SessionStore } from './store/session-store.ts';
import { UploadStore } from './store/upload-store.ts';
import { UserStore } from './store/user-store.ts';
import { VersionStore } from './store/version-store.ts';

export interface MethodRegistry extends Stoppable {
  /** Resolves once requests are served. @throws an Error whose message is for the operator. */
  start(): Promise<void>;
  /** The gRPC port; only after `start`. */
  readonly port: number;
}

export function composeMethodRegistry(config: Config, logger: Logger): MethodRegistry {
  const database = registryDatabase(config.postgresUrl.reveal(), logger.child({ part: 'database' }));
  const bus = new Bus({ url: config.natsUrl.reveal(), name: 'method-registry', logger: logger.child({ part: 'bus' }) });
  const parts = child(config, database, busRegistryChanges(bus, logger.child({ part: 'bus' })), logger);
  const server = new RpcServer({
    listen: config.listen,
    services: [
      served(MethodRegistryService, parts.resolve(MethodRegistryRpcs).handlers(), methodRequestSizes),
      served(AccountService, parts.resolve(AccountRpcs).handlers(), accountRequestSizes),
      served(UploadService, parts.resolve(UploadRpcs).handlers(), uploadRequestSizes),
      served(EndpointService, parts.resolve(EndpointRpcs).handlers()),
      served(RunRecordService, parts.resolve(RunRecordRpcs).handlers(), runRecordRequestSizes),
    ],
    logger: logger.child({ part: 'rpc' }),
  });
  // The server is last: it reports that it serves only once the schema exists and the secrets can be opened.
  const order: Stoppable[] = [
    database,
    parts.resolve(SecretsKeyCheck),
    bus,
    parts.resolve(SourceThreads),
    parts.resolve(Builds),
    parts.resolve(AbandonedUploads),
    server,
  ];
  return {
    start: () => startAll(order),
    stop: () => stopAll(order),
    get port() {
      return server.port;
    },
  };
}

function child(
  config: Config,
  database: ServiceDatabase,
  changes: RegistryChanges,
  logger: Logger,
): DependencyContainer {
  const parts = container.createChildContainer();
  parts.registerInstance(ServiceDatabase, database);
  parts.registerInstance(Database, database.sql);
  parts.registerInstance(Reader, new OrganizationReader({ sql: database.sql, role: readerRole('registry') }));
  parts.registerInstance(RegistryChanges, changes);
  const secretsKey = Buffer.from(config.secretsKey.reveal(), 'base64');
  parts.registerInstance(WebhookSecrets, sealedWebhookSecrets(secretsKey));
  parts.registerInstance(EndpointSecrets, sealedEndpointSecrets(secretsKey));
  parts.registerSingleton(OrganizationStore);
  parts.registerSingleton(UserStore);
  parts.registerSingleton(RecipientStore);
  parts.registerSingleton(SessionStore);
  parts.registerSingleton(SettingsStore);
  parts.registerSingleton(AuditStore);
  parts.registerSingleton(KeyStore);
  parts.registerSingleton(EndpointStore);
  parts.registerSingleton(MethodStore);
  parts.registerSingleton(OfferStore);
  parts.registerSingleton(VersionStore);
  parts.registerSingleton(CreationStore);
  parts.registerSingleton(UploadStore);
  parts.registerSingleton(BuildStore);
  parts.registerSingleton(LocalRunStore);
  parts.registerInstance(Blobs, openBlobs(config.blobs, database.sql));
  parts.registerInstance(SourceThreads, new SourceThreads());
  parts.registerSingleton(KnownSources);
  parts.registerInstance(RecordingCompiler, processCompiler());
  parts.registerInstance(
    AbandonedUploads,
    new AbandonedUploads({
      uploads: parts.resolve(UploadStore),
      blobs: parts.resolve(Blobs),
      logger: logger.child({ part: 'uploads' }),
    }),
  );
  parts.registerInstance(
    Builds,
    new Builds({
      store: parts.resolve(BuildStore),
      uploads: parts.resolve(UploadStore),
      blobs: parts.resolve(Blobs),
      compiler: parts.resolve(RecordingCompiler),
      changes,
      logger: logger.child({ part: 'builds' }),
    }),
  );
  return parts;
}
