// The notifier's parts and the order they start in: the one place that touches the container.

import { type Clock, systemClock } from '@methods/base/clock';
import type { KeyId, OrgId } from '@methods/base/ids';
import { RetentionDays } from '@methods/base/retention-days';
import { type Stoppable, startAll, stopAll } from '@methods/base/stoppable';
import { Bus } from '@methods/bus/connection';
import { ServiceError } from '@methods/errors/service-error';
import type { Logger } from '@methods/logging/logger';
import { OrganizationReader } from '@methods/postgres/organization-reader';
import type { Sql } from '@methods/postgres/pool';
import { readerRole } from '@methods/postgres/reader-role';
import { ServiceDatabase } from '@methods/postgres/service-database';
import { AccountService } from '@methods/proto/registry/v1/account_service_pb';
import { MethodRegistryService } from '@methods/proto/registry/v1/method_registry_service_pb';
import { askSettings } from '@methods/rpc/ask-settings';
import { type Client, rpcClient } from '@methods/rpc/client';
import { RpcServer } from '@methods/rpc/server';
import { container, type DependencyContainer, type InjectionToken, instanceCachingFactory } from 'tsyringe';
import { RunEventConsumer } from './bus/run-event-consumer.ts';
import { RunEventIntake } from './bus/run-event-intake.ts';
import { followSettings } from './bus/settings-changes.ts';
import type { Config } from './config.ts';
import { RetentionSweep } from './retention/retention-sweep.ts';
import { notifierService } from './rpc/notifier-service.ts';
import { claimDeliveries } from './store/claim-deliveries.ts';
import { notifierDatabase } from './store/notifier-database.ts';
import { recordTries } from './store/record-tries.ts';
import { storeDeliveries } from './store/store-deliveries.ts';
import { storedEvents } from './store/stored-events.ts';
import { Dispatcher } from './timer/dispatcher.ts';
import { SendSlots } from './timer/send-slots.ts';
import { TryRecorder } from './timer/try-recorder.ts';
import { AddressPlaces } from './webhook/address-places.ts';
import { LocalNames } from './webhook/local-names.ts';
import { NameResolver } from './webhook/name-resolver.ts';
import { NameServers } from './webhook/name-servers.ts';
import { RegistryAnswers } from './webhook/registry-answers.ts';
import { WebhookSender } from './webhook/webhook-sender.ts';

const SENDS = { sendsMax: 256, bytesMax: 64 << 20, perHostMax: 8 };
/** Sends to one address: a share of SENDS, so that one address never holds them all. */
const ADDRESS_PLACES = { placesMax: 64, perOrganizationMax: SENDS.perHostMax, waitMs: 1_000 };
const STOP_GRACE_MS = 3_000;
const REGISTRY_TIMEOUT_MS = 2_500;

type Registry = Client<typeof MethodRegistryService>;
type Accounts = Client<typeof AccountService>;
type WebhookHosts = RegistryAnswers<[orgId: OrgId], readonly string[]>;

const Database: InjectionToken<Sql> = Symbol('Database');
const BusToken: InjectionToken<Bus> = Symbol('Bus');
const RegistryToken: InjectionToken<Registry> = Symbol('Registry');
const AccountsToken: InjectionToken<Accounts> = Symbol('Accounts');
const ClockToken: InjectionToken<Clock> = Symbol('Clock');
const WebhookHostsToken: InjectionToken<WebhookHosts> = Symbol('WebhookHosts');

export interface Notifier extends Stoppable {
  /** Resolves once RPCs are served. NATS and the registry may still be absent. */
  start(): Promise<void>;
  /** The gRPC port; only after `start`. */
  readonly port: number;
}

export function composeNotifier(config: Config, logger: Logger): Notifier {
  const parts = register(config, logger);
  const registry = parts.resolve(RegistryToken);
  const accounts = parts.resolve(AccountsToken);
  const server = parts.resolve(RpcServer);
  const hosts = parts.resolve(WebhookHostsToken);
  const retention = parts.resolve(RetentionDays);
  followSettings(parts.resolve(BusToken), {
    onChanged(orgId) {
      hosts.forget(orgId);
      retention.changed(orgId);
    },
    onMissed: () => hosts.forgetAll(),
  });
  // Parts that accept work start last and stop first; results of tries under way still find the database.
  const order: readonly Stoppable[] = [
    parts.resolve(ServiceDatabase),
    { stop: () => registry.close() },
    { stop: () => accounts.close() },
    server,
    parts.resolve(RetentionSweep),
    parts.resolve(Dispatcher),
    parts.resolve(BusToken),
    parts.resolve(RunEventConsumer),
  ];
  return {
    start: () => startAll(order),
    stop: () => stopAll(order),
    get port() {
      return server.port;
    },
  };
}

function register(config: Config, logger: Logger): DependencyContainer {
  const parts = container.createChildContainer();
  const once = <T>(token: InjectionToken<T>, make: (from: DependencyContainer) => T) =>
    parts.register(token, { useFactory: instanceCachingFactory(make) });
  const log = (part: string) => logger.child({ part });

  parts.registerInstance(ClockToken, systemClock);
  once(ServiceDatabase, () => notifierDatabase(config.postgresUrl.reveal(), log('database')));
  once(Database, (from) => from.resolve(ServiceDatabase).sql);
  once(
    OrganizationReader,
    (from) => new OrganizationReader({ sql: from.resolve(Database), role: readerRole('notifier') }),
  );
  once(BusToken, () => new Bus({ url: config.natsUrl.reveal(), name: 'notifier', logger: log('bus') }));
  once(RegistryToken, () => rpcClient(MethodRegistryService, config.methodRegistryUrl));
  once(AccountsToken, () => rpcClient(AccountService, config.methodRegistryUrl));
  const settingsOf = (orgId: OrgId) => askSettings(parts.resolve(AccountsToken), orgId, REGISTRY_TIMEOUT_MS);
  once(WebhookHostsToken, (from) => {
    const ask = async (orgId: OrgId): Promise<readonly string[]> => {
      const settings = await settingsOf(orgId);
      if (settings === null) throw new ServiceError('not_found');
      return settings.webhookHosts;
    };
    return new RegistryAnswers({ ask, clock: from.resolve(ClockToken) });
  });
  once(NameResolver, (from) => {
    const clock = from.resolve(ClockToken);
    const servers = new NameServers({ servers: config.nameServers, clock });
    const local = config.webhookUrls.allowPrivate ? new LocalNames({ clock }) : null;
    return new NameResolver({ ask: (name) => servers.ask(name), clock, local });
  });
  once(WebhookSender, (from) => {
    const clock = from.resolve(ClockToken);
    const registry = from.resolve(RegistryToken);
    const askSecret = async (orgId: OrgId, keyId: KeyId | '') =>
      (await registry.getWebhookSecret({ orgId, keyId }, { timeoutMs: REGISTRY_TIMEOUT_MS })).webhookSecret;
    return new WebhookSender({
      policy: config.webhookUrls,
      secrets: new RegistryAnswers({ ask: askSecret, clock }),
      hosts: from.resolve(WebhookHostsToken),
      resolve: from.resolve(NameResolver).resolve,
      places: new AddressPlaces({ ...ADDRESS_PLACES, clock }),
      clock,
      timeoutMs: config.timeoutMs,
    });
  });
  once(
    TryRecorder,
    (from) =>
      new TryRecorder(
        (records) => recordTries(from.resolve(Database), records),
        from.resolve(ClockToken),
        log('timer'),
      ),
  );
  once(
    Dispatcher,
    (from) =>
      new Dispatcher({
        claim: (request) => claimDeliveries(from.resolve(Database), request),
        send: (delivery, stop) => from.resolve(WebhookSender).send(delivery, stop),
        recorder: from.resolve(TryRecorder),
        slots: new SendSlots(SENDS),
        clock: from.resolve(ClockToken),
        random: Math.random,
        logger: log('timer'),
        retryMs: config.retryMs,
        claimMs: config.claimMs,
        stopGraceMs: STOP_GRACE_MS,
      }),
  );
  once(RetentionDays, (from) => {
    const ask = async (orgId: OrgId) => (await settingsOf(orgId))?.retentionDays ?? null;
    return new RetentionDays({ ask, clock: from.resolve(ClockToken) });
  });
  once(
    RetentionSweep,
    (from) =>
      new RetentionSweep({
        sql: from.resolve(Database),
        retention: from.resolve(RetentionDays),
        clock: from.resolve(ClockToken),
        random: Math.random,
        sweepMs: config.retentionSweepMs,
        logger: log('retention'),
      }),
  );
  once(RunEventIntake, (from) => {
    const bus = from.resolve(BusToken);
    return new RunEventIntake({
      store: (planned) => storeDeliveries(from.resolve(Database), planned),
      storedEvents: (events) => storedEvents(from.resolve(Database), events),
      clock: from.resolve(ClockToken),
      publish: (subject, bytes) => bus.publish(subject, bytes),
      onStored: () => from.resolve(Dispatcher).stored(),
      logger: log('bus'),
    });
  });
  once(RunEventConsumer, (from) => new RunEventConsumer(from.resolve(BusToken), from.resolve(RunEventIntake)));
  once(
    RpcServer,
    (from) =>
      new RpcServer({
        listen: config.listen,
        services: [
          notifierService({
            sql: from.resolve(Database),
            reader: from.resolve(OrganizationReader),
            onDue: () => from.resolve(Dispatcher).wake(),
          }),
        ],
        logger: log('rpc'),
      }),
  );
  return parts;
}
