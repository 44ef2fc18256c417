// The real environment of a notifier: Postgres, NATS, a gRPC server in the registry's place, and the scheduler's end of
// the bus.
import 'reflect-metadata/lite';
import { once } from 'node:events';
import { type KeyId, newId, newRunId, type OrgId, type UserId } from '@methods/base/ids';
import { Bus } from '@methods/bus/connection';
import { registryChanged, runEvent, runEventStored } from '@methods/bus/subjects';
import { ServiceError } from '@methods/errors/service-error';
import { silentLogger } from '@methods/logging/logger';
import { RegistryChangedSchema, RunEventSchema, StoredEventsSchema } from '@methods/proto/event/v1/event_pb';
import { AccountService, type ListRecipientsRequest } from '@methods/proto/registry/v1/account_service_pb';
import { EndpointService } from '@methods/proto/registry/v1/endpoint_service_pb';
import { MethodRegistryService } from '@methods/proto/registry/v1/method_registry_service_pb';
import { decoder, encoder } from '@methods/rpc/message-codec';
import { RpcServer } from '@methods/rpc/server';
import { type TestNats, testNats } from '@methods/test/harness/nats';
import { composeNotifier, type Notifier } from '../src/composition.ts';
import { readConfig } from '../src/config.ts';
import type { EndpointTarget } from '../src/delivery/endpoint-target.ts';
import { type NotifierDatabase, notifierDatabase } from './notifier-database.fixture.ts';

export const SECRET = 'whsec_0123456789';

export type Event = Parameters<typeof encodeEvent>[0];
const encodeEvent = encoder(RunEventSchema);
const encodeChanged = encoder(RegistryChangedSchema);
const decodeStored = decoder(StoredEventsSchema);

export interface NotifierStack extends AsyncDisposable {
  readonly nats: TestNats;
  readonly database: NotifierDatabase;
  readonly registry: { start(): Promise<void>; stop(): Promise<void> };
  /**
   * Limits the organization's webhooks to these hosts; announced over the bus, as the registry does, unless `told` is
   * false.
   */
  setWebhookHosts(orgId: OrgId, hosts: string[], told?: boolean): void;
  /** Organizations for which the registry does not reply about endpoints, and the number of such calls. */
  readonly silent: Map<OrgId, { open: number; begun: number }>;
  /** The organization's endpoints from now on, announced over the bus. */
  setEndpoints(orgId: OrgId, endpoints: readonly EndpointTarget[]): void;
  /**
   * The recipients of mail, by organization; without an entry the registry names no one. Null: the registry is
   * unavailable.
   */
  readonly recipients: Map<string, ((to: readonly string[]) => readonly MailedMember[]) | null>;
  /** Methods whose people were asked for. */
  readonly methodsAsked: ReadonlyMap<OrgId, readonly string[]>;
  /** Users whose access has ended. */
  readonly removed: Set<string>;
  /** Outbox ids in the order they were confirmed, repeats included. */
  readonly confirmed: readonly string[];
  /** The environment of a notifier of this stack. */
  environment(settings?: Readonly<Record<string, string>>): Record<string, string>;
  /** A notifier in this process, started. */
  notifier(settings?: Readonly<Record<string, string>>): Promise<Notifier>;
  /** Puts an event on the bus as the scheduler's relay does. */
  emit(event: Event): Promise<void>;
  emitBytes(bytes: Uint8Array): Promise<void>;
}

export async function notifierStack(postgresUrl?: string): Promise<NotifierStack> {
  const [nats, database] = await Promise.all([testNats(), notifierDatabase(postgresUrl)]);
  const bus = new Bus({ url: nats.url, name: 'test', logger: silentLogger });
  bus.start();
  const confirmed: string[] = [];
  bus.subscribe(runEventStored, (messages) => {
    for (const { data } of messages) confirmed.push(...decodeStored(Buffer.from(data)).outboxIds);
  });
  await connected(bus);
  const registry = new RegistryStandIn();
  await registry.start();
  const environment = (settings: Readonly<Record<string, string>> = {}) => ({
    LISTEN: '127.0.0.1:0',
    POSTGRES_URL: database.url,
    NATS_URL: nats.url,
    METHOD_REGISTRY_URL: `127.0.0.1:${registry.port}`,
    ALLOW_PRIVATE_WEBHOOKS: '1',
    WEBHOOK_RETRY_MS: '20,20,20,20,20',
    // A busy machine may answer late: a try that is given up would add another one.
    WEBHOOK_TIMEOUT_MS: '30000',
    WEBHOOK_CLAIM_MS: '60000',
    ...settings,
  });
  const emitBytes = (bytes: Uint8Array, orgId = 'org') => bus.publishDurable(runEvent(orgId, 'run'), bytes);
  return {
    nats,
    database,
    registry,
    setWebhookHosts(orgId, hosts, told = true) {
      registry.webhookHosts.set(orgId, hosts);
      if (told) bus.publish(registryChanged(orgId), encodeChanged({ orgId, kind: 'settings', id: orgId }));
    },
    setEndpoints(orgId, endpoints) {
      registry.endpoints.set(orgId, endpoints);
      bus.publish(registryChanged(orgId), encodeChanged({ orgId, kind: 'endpoint', id: orgId }));
    },
    recipients: registry.recipients,
    methodsAsked: registry.methodsAsked,
    silent: registry.silent,
    removed: registry.removed,
    confirmed,
    environment,
    async notifier(settings) {
      const notifier = composeNotifier(readConfig(environment(settings)), silentLogger);
      await notifier.start();
      return notifier;
    },
    emit: (event) => emitBytes(encodeEvent(event), event.orgId),
    emitBytes,
    async [Symbol.asyncDispose]() {
      await bus.stop();
      await registry.stop();
      await nats.stop();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** A person as the registry names them for mail. */
export interface MailedMember {
  readonly userId: UserId | '';
  readonly email: string;
  readonly name: string;
  readonly reason: string;
}

/** A finished run that notifies `webhookUrl`. */
export function succeeded(webhookUrl: string, fields: Event = {}): Event {
  return {
    outboxId: newId('fld'),
    orgId: newId('org'),
    runId: newRunId(3),
    seq: 4,
    event: 'succeeded',
    method: 'wf_01k9example0000000000000000',
    versionId: newId('ver'),
    webhookUrl,
    keyId: newId('key'),
    resultJson: '{"total":12345678901234567890}',
    createdAtMs: Date.parse('2026-11-02T10:20:30.004Z'),
    ...fields,
  } as Event;
}

function connected(bus: Bus): Promise<void> {
  return new Promise((resolve) => void bus.onConnected(resolve));
}

/** Knows one secret for every key, except the key `key_unknown`. Restarts on the port it had. */
class RegistryStandIn {
  readonly webhookHosts = new Map<string, string[]>();
  readonly endpoints = new Map<string, readonly EndpointTarget[]>();
  readonly recipients: NotifierStack['recipients'] = new Map();
  readonly silent: NotifierStack['silent'] = new Map();
  readonly methodsAsked = new Map<OrgId, string[]>();
  readonly removed = new Set<string>();
  private server: RpcServer | null = null;
  port = 0;

  async start(): Promise<void> {
    const getWebhookSecret = ({ keyId }: { keyId: KeyId }) => {
      if (keyId === 'key_unknown') throw new ServiceError('not_found');
      return { webhookSecret: SECRET };
    };
    const getSettings = ({ orgId }: { orgId: OrgId }) => ({
      settings: { retentionDays: 30, webhookHosts: this.webhookHosts.get(orgId) ?? [] },
    });
    const getEndpointTargets = async ({ orgId }: { orgId: OrgId }, { signal }: { signal: AbortSignal }) => {
      const calls = this.silent.get(orgId);
      if (calls !== undefined) {
        calls.open++;
        calls.begun++;
        await once(signal, 'abort').finally(() => calls.open--);
      }
      return { targets: this.endpoints.get(orgId) ?? [] };
    };
    const listRecipients = ({ orgId, methodId, to, exceptUserId }: ListRecipientsRequest) => {
      this.methodsAsked.set(orgId, [...(this.methodsAsked.get(orgId) ?? []), methodId]);
      const named = this.recipients.get(orgId);
      if (named === null) throw new ServiceError('unavailable');
      const recipients = (named?.(to) ?? []).filter(({ userId }) => userId === '' || userId !== exceptUserId);
      const facts = { orgName: 'Acme', methodName: 'approve-refund', timeZone: 'Europe/Vienna' };
      return { ...facts, recipients: recipients.map((one) => ({ ...one })), contentOnDevices: false, more: false };
    };
    const getMember = ({ userId }: { userId: string }) => ({
      member: { userId, disabledAtMs: this.removed.has(userId) ? 1 : 0 } as never,
    });
    const listen = `127.0.0.1:${this.port}`;
    this.server = new RpcServer({
      listen,
      services: [
        [MethodRegistryService, { getWebhookSecret }],
        [AccountService, { getSettings, listRecipients, getMember }],
        [EndpointService, { getEndpointTargets }],
      ],
      logger: silentLogger,
      graceMs: 100,
    });
    await this.server.start();
    this.port = this.server.port;
  }

  async stop(): Promise<void> {
    await this.server?.stop();
    this.server = null;
  }
}
