// A whole gateway in front of a real registry on a real Postgres, with a real issuer: for tests of what people and
// their programs do through `/api`.
import 'reflect-metadata/lite';
import assert from 'node:assert/strict';
import { newOpaqueToken, opaqueTokenSha256 } from '@methods/auth/opaque-token';
import type { OrgId, UserId } from '@methods/base/ids';
import { Secret } from '@methods/config/environment';
import {
  commonRegistryProcess,
  type RegistryProcess,
  startRegistryProcess,
} from '@methods/test/harness/registry-process';
import { TestIssuer } from '@methods/test/harness/test-issuer';
import { composeGateway } from '../composition.ts';
import { DescribedReplies } from './described-replies.fixture.ts';
import { FollowedEvents } from './followed-events.fixture.ts';
import { issuerConfig, keptLog, MACHINE, MCP, PUBLIC_URL } from './issuer-config.fixture.ts';

export interface ApiFixture extends AsyncDisposable {
  readonly port: number;
  readonly issuer: TestIssuer;
  readonly registry: RegistryProcess;
  readonly log: Record<string, unknown>[];
  /** Creates a session of this user: what its browser sends, and its end. */
  session(orgId: OrgId, userId: UserId): Promise<{ headers: Record<string, string>; end(): Promise<void> }>;
  /** Opens events, as a viewer of an organization or with these headers. */
  follow(path: string, as: string | Record<string, string>): Promise<FollowedEvents>;
  /** Signs in with this role in an organization; another `org` is another organization. */
  person(role?: 'viewer' | 'member' | 'admin', org?: string, claims?: Record<string, unknown>): Promise<Asking>;
}

/** JSON in, JSON out, as a given person. */
export type Asking = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<ApiReply>;

export interface ApiReply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: replies are compared, not used
  readonly body: any;
}

export interface ApiOptions {
  /** `host:port` of each node. By default there is no server: tests need no run. */
  readonly runSchedulerAddresses?: readonly string[];
  /** By default neither the gateway nor the registry has a bus. */
  readonly natsUrl?: string;
  /** By default there is no notifier. */
  readonly notifierAddress?: string;
}

/** With its own issuer, and so with its own organizations, on a registry shared by all such files. */
export function commonRegistryApi(
  options: Pick<ApiOptions, 'notifierAddress' | 'runSchedulerAddresses'> = {},
): Promise<ApiFixture> {
  return openApi(options, commonRegistryProcess(), async () => {});
}

/** With its own registry, which the test may stop or measure. */
export function apiFixture(options: ApiOptions = {}): Promise<ApiFixture> {
  const registry = startRegistryProcess(options.natsUrl);
  return openApi(options, registry, async () => (await registry).stop());
}

async function openApi(
  { runSchedulerAddresses, natsUrl, notifierAddress }: ApiOptions,
  starting: Promise<RegistryProcess>,
  stopRegistry: () => Promise<void>,
): Promise<ApiFixture> {
  const [issuer, registry] = await Promise.all([TestIssuer.started(), starting]);
  const { log, logger } = keptLog();
  const gateway = composeGateway(
    {
      listen: { host: '127.0.0.1', port: 0 },
      publicUrl: PUBLIC_URL,
      grpcPublicUrl: null,
      packagesDir: null,
      dashboardDir: null,
      mcpUrl: MCP,
      mcpStateKey: null,
      issuer: issuerConfig(issuer),
      methodRegistryAddress: registry.address,
      runSchedulerAddresses: runSchedulerAddresses ?? ['127.0.0.1:1'],
      notifierAddress: notifierAddress ?? null,
      natsUrl: natsUrl === undefined ? null : new Secret(natsUrl),
      rateLimitPerKey: 0,
      rateLimitPerOrganization: 0,
      connectionsMax: 4_000,
      connectionsPerAddressMax: 0,
      webhooks: { allowPrivate: false, ports: [] },
      logLevel: 'info',
      trustProxy: null,
    },
    logger,
  );
  await gateway.start();
  const url = `http://127.0.0.1:${gateway.port}`;
  const tokenOf = (role: string, org: string, claims = {}) =>
    issuer.token({ aud: MACHINE, org_id: org, org_name: org, sub: `${org}-${role}`, role, ...claims });
  const description = await DescribedReplies.of(url);
  return {
    port: gateway.port,
    issuer,
    registry,
    log,
    async session(orgId, userId) {
      const token = newOpaqueToken();
      const sessionSha256 = opaqueTokenSha256(token);
      const doer = { kind: 'user', id: userId, ip: '203.0.113.7', requestId: 'test' };
      await registry.accounts.createSession({ orgId, userId, sessionSha256, doer });
      return {
        headers: { cookie: `workflow_session=${token}` },
        end: async () => void (await registry.accounts.endSession({ sessionSha256, doer })),
      };
    },
    async follow(path, as) {
      const headers = typeof as === 'string' ? { authorization: `Bearer ${await tokenOf('viewer', as)}` } : as;
      return FollowedEvents.of(url + path, headers);
    },
    async person(role = 'member', org = 'acme', claims = {}) {
      const token = await tokenOf(role, org, claims);
      return (method, path, body, headers) =>
        ask({ url, description }, method, path, body, { authorization: `Bearer ${token}`, ...headers });
    },
    async [Symbol.asyncDispose]() {
      await gateway.stop();
      await stopRegistry();
      await issuer[Symbol.asyncDispose]();
    },
  };
}

/** A text body is sent unchanged. Every reply must be one of the API's description. */
async function ask(
  { url, description }: { readonly url: string; readonly description: DescribedReplies },
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<ApiReply> {
  const response = await fetch(url + path, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const type = response.headers.get('content-type');
  description.check({ method, path, status: response.status, type, text });
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
}

/** `code` is undefined for a reply without a body; `detail`: the code of the first finding. */
export function assertRefused({ status, body }: ApiReply, expected: number, code?: string, detail?: string): void {
  assert.deepEqual([status, body?.error], [expected, code], JSON.stringify(body));
  if (detail) assert.equal(body.details[0].code, detail);
}

/** A valid method with every field that a version can have. */
export const GREETING = `format: method/2
name: greet
title: Greet somebody
inputs:
  name: text
secrets: [SHOP_TOKEN]
dependencies:
  npm: [lodash@4.17.21]
steps:
  - name: greet
    node: |
      return { text: 'Hello ' + name };
    in: { name: =inputs.name }
    secrets: [SHOP_TOKEN]
    out: { text: text }
  - name: review
    steps:
      - name: approve
        ask: Send it?
        limits: { timeout: 3d }
        out: { ok: boolean }
result:
  text: =steps.greet.text
`;
