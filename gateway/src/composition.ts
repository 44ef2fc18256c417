// The gateway, read from top to bottom: the services it calls and the caches of their answers, its threads, its server,
// and the order of start and stop.
import { Clock, systemClock } from '@methods/base/clock';
import { type Stoppable, startAll, stopAll } from '@methods/base/stoppable';
import { Bus } from '@methods/bus/connection';
import type { Logger } from '@methods/logging/logger';
import { NotifierService } from '@methods/proto/notifier/v1/notifier_service_pb';
import { rpcClient } from '@methods/rpc/client';
import { AuditLog } from '@methods/service/audit-log';
import { ValueThreads } from '@methods/value-threads/value-threads';
import type { FastifyInstance } from 'fastify';
import { container } from 'tsyringe';
import { peopleOf } from './callers/people.ts';
import { ConnectedWorkers } from './clients/connected-workers.ts';
import { KeyNames } from './clients/key-names.ts';
import { KeyUses } from './clients/key-uses.ts';
import { LinkCalls } from './clients/link-calls.ts';
import { mailStatus } from './clients/mail-status.ts';
import { MethodRegistry } from './clients/method-registry.ts';
import { OfferedMethods } from './clients/offered-methods.ts';
import { OrganizationMembers } from './clients/organization-members.ts';
import { OrganizationSettings } from './clients/organization-settings.ts';
import { QuestionCalls } from './clients/question-calls.ts';
import { ReadCalls } from './clients/read-calls.ts';
import { RegistryCalls } from './clients/registry-calls.ts';
import { followRegistryChanges } from './clients/registry-changes.ts';
import { RunScheduler } from './clients/run-scheduler.ts';
import { TriedDeliveries } from './clients/tried-deliveries.ts';
import { UploadTokens } from './clients/upload-tokens.ts';
import { WorkerChanges } from './clients/worker-changes.ts';
import type { Config } from './config.ts';
import { OrganizationLogs } from './events/organization-logs.ts';
import { RecordThreads } from './local-runs/record-threads.ts';
import { ListChanges } from './mcp/list-changes.ts';
import { LinkedQuestions } from './routes/answer-page/linked-questions.ts';
import { declaredSteps } from './routes/runs/run-reply.ts';
import { buildServer, listen, type ServerParts } from './server.ts';
import { SourceInterfaces } from './sources/source-interfaces.ts';
import { SourceThreads } from './sources/source-threads.ts';

export interface Gateway extends Stoppable {
  /** Resolves once requests are accepted; /readyz reports when they can be served. */
  start(): Promise<void>;
  /** The HTTP port; only after `start`. */
  readonly port: number;
}

export function composeGateway(config: Config, logger: Logger): Gateway {
  const clock = systemClock;
  const parts = container.createChildContainer();
  parts.registerInstance(Clock, clock);

  // Reads texts of callers outside of the event loop.
  const sources = new SourceThreads();
  const valueThreads = new ValueThreads();
  const recordThreads = new RecordThreads();

  // The services it calls, and the caches of their answers.
  const { runSchedulerAddresses: addresses, methodRegistryAddress: address } = config;
  const scheduler = new RunScheduler({ addresses, clock, logger: logger.child({ part: 'run-scheduler' }) });
  const questions = new QuestionCalls(addresses);
  const registry = new MethodRegistry({ address, clock, sources });
  const people = peopleOf(config, clock);
  const registryCalls = new RegistryCalls(address);
  const uploadTokens = new UploadTokens(address);
  const keyUses = new KeyUses({ clock, logger, note: (uses) => registry.noteKeyUses(uses) });
  parts.registerInstance(SourceThreads, sources);
  parts.registerInstance(RegistryCalls, registryCalls);
  const settings = parts.resolve(OrganizationSettings);
  const members = parts.resolve(OrganizationMembers);
  const keyNames = parts.resolve(KeyNames);
  const sourceInterfaces = parts.resolve(SourceInterfaces);
  const offeredMethods = new OfferedMethods(registryCalls, clock);
  const listChanges = new ListChanges();
  const audit = new AuditLog({
    clock,
    logger: logger.child({ part: 'audit-log' }),
    send: (lines) => registryCalls.recordAudit(lines),
  });
  const bus = busOf(config, logger);
  const organizationLogs = new OrganizationLogs({
    clock,
    organizations: scheduler.organizations,
    declaredSteps: (orgId, run) => declaredSteps({ registry }, orgId, run),
    deliveries: bus && new TriedDeliveries(bus),
    workers: bus && new WorkerChanges(bus),
  });
  const links = config.notifierAddress === null ? null : new LinkCalls(config.notifierAddress);
  const workers = new ConnectedWorkers(addresses);
  const reads = new ReadCalls(addresses);
  const deliveries = config.notifierAddress === null ? null : rpcClient(NotifierService, config.notifierAddress);
  const answerLinks =
    links === null ? null : new LinkedQuestions({ links, questions, members, registryCalls, audit, logger });
  const before: Stoppable[] = [
    sources,
    valueThreads,
    recordThreads,
    scheduler,
    questions,
    registry,
    people.accounts,
    registryCalls,
    uploadTokens,
    keyUses,
    audit,
    ...(links === null ? [] : [links]),
    { stop: () => deliveries?.close() },
    workers,
    reads,
  ];
  // A list requested after its notification has the change.
  const caches = [registry, people.accounts, settings, members, keyNames, offeredMethods];
  const listeners = [...caches, organizationLogs, listChanges];
  if (bus !== null) {
    followRegistryChanges(bus, ...listeners);
    before.push(bus);
  }

  let stopping = false;
  const http = httpServer(config, {
    scheduler,
    questions,
    members,
    keyNames,
    registry,
    registryCalls,
    settings,
    audit,
    organizationLogs,
    offeredMethods,
    listChanges,
    answerLinks,
    deliveries,
    workers,
    reads,
    sendsMail: mailStatus(deliveries, clock),
    sourceInterfaces,
    ...people,
    uploadTokens,
    keyUses,
    valueThreads,
    recordThreads,
    ...config,
    clock,
    logger,
    stopping: () => stopping,
  });
  return {
    start: () => startAll([...before, http]),
    async stop() {
      stopping = true;
      // Answers waiting requests with their present runs, so that closing waits for no caller.
      scheduler.endWaits();
      organizationLogs.stop();
      await stopAll([...before, http]);
    },
    get port() {
      return http.port;
    },
  };
}

function busOf({ natsUrl }: Config, logger: Logger): Bus | null {
  return natsUrl && new Bus({ url: natsUrl.reveal(), name: 'gateway', logger: logger.child({ part: 'bus' }) });
}

function httpServer(config: Config, parts: ServerParts): Stoppable & { readonly port: number } {
  let server: FastifyInstance | null = null;
  return {
    async start() {
      server = await buildServer(parts);
      await listen(server, config.listen);
      parts.logger.debug({ routes: server.routeTable() }, 'routes');
    },
    async stop() {
      await server?.close();
    },
    get port() {
      const address = server?.server.address();
      return typeof address === 'object' && address !== null ? address.port : 0;
    },
  };
}
