// All guarded surfaces with only probe routes, a real issuer and a real registry peer, for tests of access.
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from '@methods/base/clock';
import { TestIssuer } from '@methods/test/harness/test-issuer';
import Fastify, { type FastifyInstance } from 'fastify';
import { pathInOrganization } from '../callers/addressed-organization.ts';
import { callerFinder } from '../callers/find-caller.ts';
import { type People, peopleOf } from '../callers/people.ts';
import { MethodRegistry } from '../clients/method-registry.ts';
import { UploadTokens } from '../clients/upload-tokens.ts';
import type { IssuerConfig } from '../config.ts';
import { addCallerFields, callerOf } from '../plugins/caller.ts';
import { addRouteTable } from '../plugins/caller-access.ts';
import { addCallerScope } from '../plugins/caller-scope.ts';
import { addErrorReply } from '../plugins/error-reply.ts';
import { addJsonBody } from '../plugins/json-body.ts';
import { LargeBodies } from '../plugins/large-bodies.ts';
import { OrganizationTurns } from '../plugins/organization-turns.ts';
import { doerOf } from '../plugins/request-actor.ts';
import { addRequestLog } from '../plugins/request-log.ts';
import { UnreadReplies } from '../plugins/unread-replies.ts';
import { addAuthRoutes } from '../routes/auth/auth-routes.ts';
import { SourceThreads } from '../sources/source-threads.ts';
import { LongWork } from '../turns/long-work.ts';
import { issuerConfig, keptLog, MCP, PUBLIC_URL } from './issuer-config.fixture.ts';
import { RegistryPeer } from './registry-peer.fixture.ts';

/** One probe for each surface and role, for example GET /api/viewer. */
const SURFACES = { service: '/v1', cli: '/api/cli', api: '/api' } as const;

export interface ProbeFixture extends AsyncDisposable {
  readonly app: FastifyInstance;
  readonly issuer: TestIssuer;
  readonly registry: RegistryPeer;
  readonly registryClient: MethodRegistry;
  readonly people: People;
  readonly config: IssuerConfig;
  readonly log: Record<string, unknown>[];
  ask(method: 'GET' | 'POST', url: string, headers?: Record<string, string>): Promise<ProbeReply>;
}

export interface ProbeReply {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: replies are compared, not used
  readonly body: any;
}

export interface ProbeOptions {
  readonly clock?: Clock;
  readonly config?: Partial<IssuerConfig>;
}

export async function probeFixture({ clock = systemClock, config: changes }: ProbeOptions = {}): Promise<ProbeFixture> {
  const [issuer, registry] = [await TestIssuer.started(), new RegistryPeer()];
  await registry.start();
  const config = { ...issuerConfig(issuer), ...changes };
  const settings = { issuer: config, publicUrl: PUBLIC_URL, mcpUrl: MCP, methodRegistryAddress: registry.address };
  const people = peopleOf(settings, clock);
  const registryClient = new MethodRegistry({ address: registry.address, clock, sources: new SourceThreads() });
  const uploadTokens = new UploadTokens(registry.address);
  const { log, logger } = keptLog();

  const ajv = {
    customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, verbose: true },
  } as const;
  const app = Fastify({ exposeHeadRoutes: false, ajv, rewriteUrl: pathInOrganization });
  addCallerFields(app);
  addRouteTable(app);
  addErrorReply(app, logger);
  addRequestLog(app, logger);
  const largeBodies = new LargeBodies(new LongWork(clock));
  addJsonBody(app, largeBodies);
  const sources = { ...people, registry: registryClient, uploadTokens, keyUses: { used() {} }, publicUrl: PUBLIC_URL };
  const scope = {
    findCaller: callerFinder(sources),
    turns: new OrganizationTurns(clock),
    limit: null,
    refusedCredentials: null,
    largeBodies,
    unreadReplies: new UnreadReplies(clock),
    mcpUrl: MCP,
  };
  for (const surface of ['service', 'cli', 'api'] as const) {
    await addCallerScope(app, surface, scope, (routes) => {
      for (const access of ['viewer', 'member', 'admin'] as const) {
        const [url, config] = [`${SURFACES[surface]}/${access}`, { access }];
        routes.get(url, { config }, async (request) => callerOf(request));
        routes.post(url, { config }, async (request) => doerOf(request));
      }
    });
  }
  await addCallerScope(app, 'upload', scope, (routes) => {
    routes.get('/api/workflow-uploads/:id/content', async (request) => callerOf(request));
  });
  await addAuthRoutes(app, { ...people, clock, publicUrl: PUBLIC_URL, rateLimitPerKey: 0 });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;

  return {
    app,
    issuer,
    registry,
    registryClient,
    people,
    config,
    log,
    async ask(method, url, headers = {}) {
      const response = await fetch(`http://127.0.0.1:${port}${url}`, { method, headers, redirect: 'manual' });
      const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
      const body = isJson ? await response.json() : await response.text();
      const cookies = { 'set-cookie': response.headers.getSetCookie() };
      return { status: response.status, headers: { ...Object.fromEntries(response.headers), ...cookies }, body };
    },
    async [Symbol.asyncDispose]() {
      await app.close();
      people.accounts.stop();
      registryClient.stop();
      uploadTokens.stop();
      await registry.stop();
      await issuer[Symbol.asyncDispose]();
    },
  };
}
