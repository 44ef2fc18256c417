// A whole gateway in front of test peers, listening on a free port.
import 'reflect-metadata/lite';
import { type Clock, systemClock } from '@methods/base/clock';
import { type MethodId, newId, type OrgId, type VersionId } from '@methods/base/ids';
import { createLogger } from '@methods/logging/logger';
import { AuditLog } from '@methods/service/audit-log';
import { until as conditionHolds } from '@methods/test/harness/until';
import { ValueThreads } from '@methods/value-threads/value-threads';
import type { FastifyInstance } from 'fastify';
import { peopleOf } from '../callers/people.ts';
import type { Accounts } from '../clients/accounts.ts';
import { KeyNames } from '../clients/key-names.ts';
import { KeyUses } from '../clients/key-uses.ts';
import { MethodRegistry } from '../clients/method-registry.ts';
import { OfferedMethods } from '../clients/offered-methods.ts';
import { OrganizationMembers } from '../clients/organization-members.ts';
import { OrganizationSettings } from '../clients/organization-settings.ts';
import { QuestionCalls } from '../clients/question-calls.ts';
import { ReadCalls } from '../clients/read-calls.ts';
import { RegistryCalls } from '../clients/registry-calls.ts';
import { RunScheduler } from '../clients/run-scheduler.ts';
import { UploadTokens } from '../clients/upload-tokens.ts';
import { type LogLimits, OrganizationLogs } from '../events/organization-logs.ts';
import { RecordThreads } from '../local-runs/record-threads.ts';
import { ListChanges } from '../mcp/list-changes.ts';
import { declaredSteps } from '../routes/runs/run-reply.ts';
import { buildServer, listen, type ServerParts } from '../server.ts';
import { SourceInterfaces } from '../sources/source-interfaces.ts';
import { SourceThreads } from '../sources/source-threads.ts';
import { RegistryPeer } from './registry-peer.fixture.ts';
import { RunBook } from './run-book.fixture.ts';
import { SchedulerPeer } from './scheduler-peer.fixture.ts';

const GREETING = `format: method/2
name: greet
inputs:
  name: text
  times: integer = 1
steps:
  - name: greet
    node: |
      return { text: 'Hello ' + name };
    in: { name: =inputs.name }
    out: { text: text }
  - name: approve
    ask: Send it?
    out: { ok: boolean }
result:
  text: =steps.greet.text
`;

export interface GatewayFixture extends AsyncDisposable {
  readonly app: FastifyInstance;
  readonly port: number;
  readonly book: RunBook;
  readonly nodes: readonly SchedulerPeer[];
  readonly registry: RegistryPeer;
  readonly scheduler: RunScheduler;
  readonly registryClient: MethodRegistry;
  readonly organizationLogs: OrganizationLogs;
  readonly offeredMethods: OfferedMethods;
  readonly listChanges: ListChanges;
  readonly accounts: Accounts;
  readonly keyUses: KeyUses;
  readonly settings: OrganizationSettings;
  readonly orgId: OrgId;
  readonly apiKey: ReturnType<RegistryPeer['key']>;
  readonly methodId: MethodId;
  readonly versionId: VersionId;
  readonly source: string;
  readonly log: Record<string, unknown>[];
  /** JSON in, JSON out, with the fixture's key by default. */
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  stopping: boolean;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: replies are compared, not used
  readonly body: any;
}

export async function gatewayFixture({
  nodes: nodeCount = 1,
  registryClock = systemClock,
  schedulerClock = systemClock,
  logLimits = {},
  ...options
}: {
  nodes?: number;
  registryClock?: Clock;
  schedulerClock?: Clock;
  logLimits?: Partial<LogLimits>;
} & Partial<ServerParts> = {}) {
  const book = new RunBook();
  const nodes = Array.from({ length: nodeCount }, () => new SchedulerPeer(book));
  const registry = new RegistryPeer();
  await Promise.all([registry.start(), ...nodes.map((node) => node.start())]);
  const orgId = newId('org');
  const apiKey = registry.key(orgId);
  const { methodId, versionId } = registry.method(orgId, GREETING);

  const log: Record<string, unknown>[] = [];
  const logger = createLogger({ name: 'gateway', destination: { write: (line) => log.push(JSON.parse(line)) } });
  const scheduler = new RunScheduler({ addresses: nodes.map(({ address }) => address), clock: schedulerClock, logger });
  const sources = new SourceThreads();
  const registryClient = new MethodRegistry({
    address: registry.address,
    clock: registryClock,
    sources,
  });
  const fixture = { stopping: false };
  const settings = {
    issuer: null,
    publicUrl: null,
    mcpUrl: null,
    grpcPublicUrl: null,
    packagesDir: null,
    dashboardDir: null,
    ...options,
  };
  const people = peopleOf({ ...settings, methodRegistryAddress: registry.address }, systemClock);
  const registryCalls = new RegistryCalls(registry.address);
  const uploadTokens = new UploadTokens(registry.address);
  const keyUses = new KeyUses({ clock: systemClock, logger, note: (uses) => registryClient.noteKeyUses(uses) });
  const questions = new QuestionCalls(nodes.map(({ address }) => address));
  const reads = new ReadCalls(nodes.map(({ address }) => address));
  const organizationSettings = new OrganizationSettings(registryCalls, systemClock);
  const audit = new AuditLog({ clock: systemClock, logger, send: (lines) => registryCalls.recordAudit(lines) });
  const organizationLogs = new OrganizationLogs({
    clock: systemClock,
    organizations: scheduler.organizations,
    declaredSteps: (orgId, run) => declaredSteps({ registry: registryClient }, orgId, run),
    deliveries: null,
    workers: null,
    limits: logLimits,
  });
  const offeredMethods = new OfferedMethods(registryCalls, systemClock);
  const listChanges = new ListChanges();
  const valueThreads = new ValueThreads();
  const recordThreads = new RecordThreads();
  const app = await buildServer({
    scheduler,
    questions,
    members: new OrganizationMembers(registryCalls, systemClock),
    keyNames: new KeyNames(registryCalls, systemClock),
    registry: registryClient,
    registryCalls,
    settings: organizationSettings,
    audit,
    organizationLogs,
    offeredMethods,
    listChanges,
    mcpStateKey: null,
    sourceInterfaces: new SourceInterfaces(systemClock, sources),
    ...people,
    uploadTokens,
    keyUses,
    valueThreads,
    recordThreads,
    clock: systemClock,
    logger,
    webhooks: { allowPrivate: false, ports: [] },
    rateLimitPerKey: 0,
    rateLimitPerOrganization: 0,
    connectionsMax: 1_000,
    connectionsPerAddressMax: 0,
    trustProxy: null,
    answerLinks: null,
    deliveries: null,
    reads,
    workers: { list: async () => ({ workers: [], count: 0, isComplete: true }) },
    sendsMail: async () => null,
    stopping: () => fixture.stopping,
    ...settings,
  });
  await listen(app, { host: '127.0.0.1', port: 0 });
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  scheduler.start();
  await until(() => nodes.every((node) => node.linked));

  return Object.assign(fixture, {
    app,
    port,
    book,
    nodes,
    registry,
    scheduler,
    registryClient,
    organizationLogs,
    offeredMethods,
    listChanges,
    accounts: people.accounts,
    keyUses,
    settings: organizationSettings,
    orgId,
    apiKey,
    methodId,
    versionId,
    source: GREETING,
    log,
    async ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${apiKey.key}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
    },
    async [Symbol.asyncDispose]() {
      scheduler.endWaits();
      organizationLogs.stop();
      await app.close();
      scheduler.stop();
      questions.stop();
      reads.stop();
      await audit.stop();
      await valueThreads.stop();
      await recordThreads.stop();
      registryClient.stop();
      await sources.stop();
      people.accounts.stop();
      registryCalls.stop();
      uploadTokens.stop();
      await Promise.all([registry.stop(), ...nodes.map((node) => node.stop())]);
    },
  }) satisfies GatewayFixture;
}

/** Waits for a condition. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  await conditionHolds('the condition of this test', condition);
}
