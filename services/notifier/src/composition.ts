// The notifier, read from top to bottom: its requests to the registry, how it sends one webhook, which part sends when,
// the listeners, and the order of start and stop.
import { systemClock } from '@methods/base/clock';
import type { EndpointId, KeyId, MethodId, OrgId, UserId } from '@methods/base/ids';
import { RetentionDays } from '@methods/base/retention-days';
import { type Stoppable, startAll, stopAll } from '@methods/base/stoppable';
import { Bus } from '@methods/bus/connection';
import { ServiceError } from '@methods/errors/service-error';
import type { Logger } from '@methods/logging/logger';
import { OrganizationReader, readerRole } from '@methods/postgres/organization-reader';
import { AccountService } from '@methods/proto/registry/v1/account_service_pb';
import { EndpointService } from '@methods/proto/registry/v1/endpoint_service_pb';
import { MethodRegistryService } from '@methods/proto/registry/v1/method_registry_service_pb';
import { askSettings } from '@methods/rpc/ask-settings';
import { rpcClient } from '@methods/rpc/client';
import { RpcServer } from '@methods/rpc/server';
import { container } from 'tsyringe';
import type { NewLink } from './answer-link/answer-link.ts';
import { followRegistry } from './bus/registry-changes.ts';
import { RunEventConsumer } from './bus/run-event-consumer.ts';
import { RunEventIntake } from './bus/run-event-intake.ts';
import { publishTries } from './bus/tried-deliveries.ts';
import { answerAddress } from './chat/answer-address.ts';
import { chatMessage } from './chat/chat-message.ts';
import { askChatContext, methodOf } from './chat/chat-notice.ts';
import { composeMail, noMail, PLACES } from './compose-mail.ts';
import type { Config } from './config.ts';
import { MAIL_RETRY_MS } from './delivery/schedule.ts';
import { RetentionSweep } from './retention/retention-sweep.ts';
import { linkService } from './rpc/link-service.ts';
import { notifierService } from './rpc/notifier-service.ts';
import { storeLinks } from './store/answer-links.ts';
import { claimDeliveries } from './store/claim-deliveries.ts';
import { notifierDatabase } from './store/notifier-database.ts';
import { isPassing } from './store/passing-faults.ts';
import { recordTries, type TryRecord } from './store/record-tries.ts';
import { storedEvents, storeEvents } from './store/store-events.ts';
import { Dispatcher } from './timer/dispatcher.ts';
import { SendSlots } from './timer/send-slots.ts';
import { TryRecorder } from './timer/try-recorder.ts';
import { AddressPlaces } from './webhook/address-places.ts';
import { LocalNames } from './webhook/local-names.ts';
import { NameResolver } from './webhook/name-resolver.ts';
import { NameServers } from './webhook/name-servers.ts';
import { askEndpointTargets, RegistryAnswers } from './webhook/registry-answers.ts';
import { WebhookSender } from './webhook/webhook-sender.ts';

const SENDS = { sendsMax: 256, bytesMax: 64 << 20, perHostMax: 8, mailsMax: PLACES.perOrganizationMax };
/** Sends to one address: a share of SENDS, so that one address never takes them all. */
const ADDRESS_PLACES = { placesMax: 64, perOrganizationMax: SENDS.perHostMax, waitMs: 1_000 };
const STOP_GRACE_MS = 3_000;
const REGISTRY_TIMEOUT_MS = 2_500;

export interface Notifier extends Stoppable {
  /** Resolves once RPCs are served. NATS and the registry may still be absent. */
  start(): Promise<void>;
  /** The gRPC port; only after `start`. */
  readonly port: number;
}

export function composeNotifier(config: Config, logger: Logger): Notifier {
  const clock = systemClock;
  const parts = container.createChildContainer();
  const log = (part: string) => logger.child({ part });
  const database = notifierDatabase(config.postgresUrl.reveal(), log('database'));
  const { sql } = database;
  const reader = new OrganizationReader({ sql, role: readerRole('notifier') });
  const bus = new Bus({ url: config.natsUrl.reveal(), name: 'notifier', logger: log('bus') });

  // Cached answers of the registry about organizations and their keys.
  const registry = rpcClient(MethodRegistryService, config.methodRegistryUrl);
  const accounts = rpcClient(AccountService, config.methodRegistryUrl);
  const endpointCalls = rpcClient(EndpointService, config.methodRegistryUrl);
  const settingsOf = (orgId: OrgId) => askSettings(accounts, orgId, REGISTRY_TIMEOUT_MS);
  const askHosts = async (orgId: OrgId): Promise<readonly string[]> => {
    const settings = await settingsOf(orgId);
    if (settings === null) throw new ServiceError('not_found');
    return settings.webhookHosts;
  };
  const askSecret = async (orgId: OrgId, keyId: KeyId | '') =>
    (await registry.getWebhookSecret({ orgId, keyId }, { timeoutMs: REGISTRY_TIMEOUT_MS })).webhookSecret;
  const askDays = async (orgId: OrgId) => (await settingsOf(orgId))?.retentionDays ?? null;
  const askAccess = async (orgId: OrgId, userId: UserId): Promise<boolean> => {
    const { member } = await accounts.getMember({ orgId, userId }, { timeoutMs: REGISTRY_TIMEOUT_MS });
    return member?.disabledAtMs === 0;
  };
  const askTargets = (orgId: OrgId) => askEndpointTargets(endpointCalls, orgId, REGISTRY_TIMEOUT_MS);
  const askContext = (orgId: OrgId, methodId: MethodId) =>
    askChatContext(accounts, orgId, methodId, REGISTRY_TIMEOUT_MS);
  const endpoints = new RegistryAnswers({ ask: askTargets, clock });
  const hosts = new RegistryAnswers({ ask: askHosts, clock });
  const access = new RegistryAnswers({ ask: askAccess, clock });
  const secrets = new RegistryAnswers({ ask: askSecret, clock });
  const chatContexts = new RegistryAnswers({ ask: askContext, clock });
  const retention = new RetentionDays({ ask: askDays, clock });

  // A try of a webhook.
  const servers = new NameServers({ servers: config.nameServers, clock });
  const local = config.webhookUrls.allowPrivate ? new LocalNames({ clock }) : null;
  const resolver = new NameResolver({ ask: (name) => servers.ask(name), clock, local });
  const chatLinks = { links: config.links, storeLink: (link: NewLink) => storeLinks(sql, [link]), clock };
  const sender = new WebhookSender({
    policy: config.webhookUrls,
    secrets,
    endpoints,
    async chatMessage(delivery, format, name) {
      const context = await chatContexts.get(delivery.orgId, methodOf(delivery));
      const answerUrl = await answerAddress(chatLinks, delivery, name);
      return chatMessage(delivery, format, context, answerUrl, clock.wallMs());
    },
    hosts,
    resolve: resolver.resolve,
    places: new AddressPlaces({ ...ADDRESS_PLACES, clock }),
    isPassing,
    clock,
    timeoutMs: config.timeoutMs,
    logger: log('webhook'),
  });

  // A try of a mail.
  const hasAccess = (orgId: OrgId, userId: UserId) => access.get(orgId, userId);
  const hasEndpoint = async (orgId: OrgId, endpointId: EndpointId) =>
    (await endpoints.get(orgId)).some((each) => each.endpointId === endpointId);
  const onStored = () => dispatcher.stored();
  const { mail: settings, timeoutMs } = config;
  const mailLog = log('mail');
  const mail =
    settings === null
      ? null
      : composeMail({ settings, sql, accounts, hasAccess, clock, timeoutMs, onStored, logger: mailLog });
  if (mail === null) mailLog.warn({}, 'no mail goes out: SMTP_URL is not set');

  // The parts that decide what is sent when.
  const record = async (records: readonly TryRecord[]) => {
    const kept = await recordTries(sql, records);
    publishTries(
      records.filter(({ delivery }) => kept.has(delivery.deliveryId)),
      (subject, bytes) => bus.publish(subject, bytes),
    );
    return kept;
  };
  const recorder = new TryRecorder(record, clock, log('timer'));
  const dispatcher = new Dispatcher({
    claim: (request) => claimDeliveries(sql, request),
    reach: () => sql`select 1`,
    send: (delivery, stop) =>
      delivery.kind === 'mail' ? (mail ?? noMail(clock)).send(delivery, stop) : sender.send(delivery, stop),
    recorder,
    slots: new SendSlots(SENDS),
    clock,
    random: Math.random,
    logger: log('timer'),
    retryMs: ({ kind }) => (kind === 'mail' ? (settings?.retryMs ?? MAIL_RETRY_MS) : config.retryMs),
    claimMs: config.claimMs,
    stopGraceMs: STOP_GRACE_MS,
  });
  const intake = new RunEventIntake({
    store: (planned) => storeEvents(sql, planned),
    mails: mail !== null,
    endpoints: (orgId) => endpoints.known(orgId)?.answer ?? endpoints.get(orgId),
    storedEvents: (events) => storedEvents(sql, events),
    clock,
    publish: (subject, bytes) => bus.publish(subject, bytes),
    onStored,
    logger: log('bus'),
  });
  parts.registerInstance(Bus, bus);
  parts.registerInstance(RunEventIntake, intake);
  const consumer = parts.resolve(RunEventConsumer);
  const sweepMs = config.retentionSweepMs;
  const sweep = new RetentionSweep({ sql, retention, clock, random: Math.random, sweepMs, logger: log('retention') });
  const server = new RpcServer({
    listen: config.listen,
    services: [
      notifierService({ sql, reader, onDue: () => dispatcher.wake(), sendsMail: mail !== null }),
      linkService({ sql, clock, hasAccess, hasEndpoint }),
    ],
    logger: log('rpc'),
  });

  followRegistry(bus, {
    onSettingsChanged(orgId) {
      hosts.forget(orgId);
      retention.changed(orgId);
    },
    onEndpointsChanged: (orgId) => endpoints.forget(orgId),
    onMemberChanged: (orgId, id) => access.forget(orgId, id as UserId),
    onMissed() {
      hosts.forgetAll();
      endpoints.forgetAll();
      access.forgetAll();
    },
  });
  // Parts that accept work start last and stop first, so that results of tries in progress can still be stored.
  const order: readonly Stoppable[] = [
    database,
    { stop: () => registry.close() },
    { stop: () => accounts.close() },
    { stop: () => endpointCalls.close() },
    { stop: () => mail?.stop() },
    server,
    sweep,
    dispatcher,
    bus,
    consumer,
  ];
  return {
    start: () => startAll(order),
    stop: () => stopAll(order),
    get port() {
      return server.port;
    },
  };
}
