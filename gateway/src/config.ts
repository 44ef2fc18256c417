// The gateway's configuration: read once at start, with all faults reported at once.

import { isSafeTransport } from '@methods/auth/safe-transport';
import { ConfigError, readEnvironment, type Secret, SecretText } from '@methods/config/environment';
import type { LogLevel } from '@methods/logging/logger';
import type { WebhookUrlPolicy } from '@methods/webhook-url/check-webhook-url';
import { type Static, Type } from 'typebox';

const ADDRESS = '\\S+:[0-9]{1,5}';
const WEB_ADDRESS = '^https?://[^\\s?#]*[^/\\s?#]$';

const Environment = Type.Object({
  /** host:port of the HTTP server; port 0 picks a free one. */
  LISTEN: Type.String({ pattern: `^${ADDRESS}$` }),
  /** The URL at which callers reach this server, without a slash at the end; shown in the API's description. */
  PUBLIC_URL: Type.Optional(Type.String({ pattern: WEB_ADDRESS })),
  /**
   * The addresses at which workers reach the run-schedulers: host:port, or https://host:port over TLS, separated by
   * commas.
   */
  GRPC_PUBLIC_URL: Type.Optional(Type.String({ minLength: 1 })),
  /** The URL that MCP clients connect to; also the audience of their tokens. */
  MCP_URL: Type.Optional(Type.String({ pattern: WEB_ADDRESS })),
  /**
   * Signs the state that MCP clients hold while their users are asked; it must be the same at all gateways. Without it,
   * an answer counts only at the gateway that asked.
   */
  MCP_STATE_KEY: Type.Optional(SecretText({ minLength: 32 })),
  /** Audience of the tokens of programs on people's computers. Default: `<PUBLIC_URL>/api`. */
  MACHINE_AUDIENCE: Type.Optional(Type.String({ minLength: 1, maxLength: 2_048 })),
  /** The identity provider, exactly as its tokens name it. Without it there are service keys and no people. */
  OIDC_ISSUER: Type.Optional(Type.String({ pattern: '^https?://[^\\s?#]+$' })),
  /** This server's own client at the issuer, for sign-in with a browser. */
  OIDC_CLIENT_ID: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
  OIDC_CLIENT_SECRET: Type.Optional(SecretText({ minLength: 1 })),
  /** The client with which the command line signs in. */
  OIDC_CLI_CLIENT_ID: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
  /** Claims with a person's organization, its name, and the person's role. */
  OIDC_ORG_CLAIM: Type.String({ minLength: 1, default: 'org_id' }),
  OIDC_ORG_NAME_CLAIM: Type.String({ minLength: 1, default: 'org_name' }),
  OIDC_ROLE_CLAIM: Type.Optional(Type.String({ minLength: 1 })),
  /** host:port. */
  METHOD_REGISTRY_URL: Type.String({ pattern: `^${ADDRESS}$` }),
  /** host:port of every run-scheduler node, separated by commas. */
  RUN_SCHEDULER_URLS: Type.String({ pattern: `^${ADDRESS}(,${ADDRESS})*$` }),
  /** host:port. Without it there are no pages of answer links. */
  NOTIFIER_URL: Type.Optional(Type.String({ pattern: `^${ADDRESS}$` })),
  /** Without it a revoked key or a new publish is noticed within 30 s instead of at once. */
  NATS_URL: Type.Optional(SecretText({ pattern: '^(nats|tls)://' })),
  /** Requests a second for each key; bursts of twice as many. 0: no limit, nor one of sign-ins and bad credentials. */
  RATE_LIMIT_PER_KEY: Type.Integer({ minimum: 0, default: 200 }),
  /** Requests a second of all callers of an organization, at each gateway; bursts of twice as many. 0: no limit. */
  RATE_LIMIT_PER_ORGANIZATION: Type.Integer({ minimum: 0, default: 1_000 }),
  /** The number of open connections. */
  CONNECTIONS_MAX: Type.Integer({ minimum: 1, default: 50_000 }),
  /**
   * For each address, or the first 64 bits of an IPv6 address. 0: no limit. Does not apply to the addresses of
   * TRUST_PROXY.
   */
  CONNECTIONS_PER_ADDRESS_MAX: Type.Integer({ minimum: 0, default: 6_000 }),
  /** Holds the packages of the client libraries, as `npm run packages` builds them. Without it there are none. */
  PACKAGES_DIR: Type.Optional(Type.String({ minLength: 1 })),
  /** Holds the dashboard, as `npm run dashboard:build` builds it. Without it there is none. */
  DASHBOARD_DIR: Type.Optional(Type.String({ minLength: 1 })),
  /** Ports that webhook URLs may use besides 443, separated by commas. */
  WEBHOOK_PORTS: Type.Optional(Type.String({ pattern: '^[0-9]{1,5}(,[0-9]{1,5})*$' })),
  /** Allows webhooks by plain http and to addresses that are not public: for a single machine only. */
  ALLOW_PRIVATE_WEBHOOKS: Type.Boolean({ default: false }),
  LOG_LEVEL: Type.Enum(['debug', 'info', 'warn', 'error', 'silent'], { default: 'info' }),
  /** Comma-separated addresses or networks whose X-Forwarded headers are trusted. */
  TRUST_PROXY: Type.Optional(Type.String({ minLength: 1 })),
});

/** The settings of the issuer that identifies people. */
export interface IssuerConfig {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: Secret | null;
  readonly cliClientId: string | null;
  readonly orgClaim: string;
  readonly orgNameClaim: string;
  /** Null: roles are given only here. */
  readonly roleClaim: string | null;
  readonly machineAudience: string;
}

export interface Config {
  readonly listen: { readonly host: string; readonly port: number };
  readonly publicUrl: string | null;
  readonly grpcPublicUrl: string | null;
  readonly mcpUrl: string | null;
  /** Null: a key that only this process knows. */
  readonly mcpStateKey: Secret | null;
  /** Null: only service keys are accepted. */
  readonly issuer: IssuerConfig | null;
  readonly methodRegistryAddress: string;
  readonly runSchedulerAddresses: readonly string[];
  readonly notifierAddress: string | null;
  readonly natsUrl: Secret | null;
  /** Requests a second; 0: no limit, also none for bad credentials of an address. */
  readonly rateLimitPerKey: number;
  readonly rateLimitPerOrganization: number;
  readonly connectionsMax: number;
  /** 0: no limit. */
  readonly connectionsPerAddressMax: number;
  readonly packagesDir: string | null;
  readonly dashboardDir: string | null;
  readonly webhooks: WebhookUrlPolicy;
  readonly logLevel: LogLevel;
  readonly trustProxy: string | null;
}

/** @throws ConfigError with one line a fault. */
export function readConfig(source: Readonly<Record<string, string | undefined>> = process.env): Config {
  const environment = readEnvironment(Environment, source);
  return Object.freeze({
    listen: hostAndPort(environment.LISTEN),
    publicUrl: environment.PUBLIC_URL ?? null,
    grpcPublicUrl: environment.GRPC_PUBLIC_URL ?? null,
    mcpUrl: environment.MCP_URL ?? null,
    mcpStateKey: environment.MCP_STATE_KEY ?? null,
    issuer: issuerConfig(environment),
    methodRegistryAddress: environment.METHOD_REGISTRY_URL,
    runSchedulerAddresses: [...new Set(environment.RUN_SCHEDULER_URLS.split(','))],
    notifierAddress: environment.NOTIFIER_URL ?? null,
    natsUrl: environment.NATS_URL ?? null,
    rateLimitPerKey: environment.RATE_LIMIT_PER_KEY,
    rateLimitPerOrganization: environment.RATE_LIMIT_PER_ORGANIZATION,
    connectionsMax: environment.CONNECTIONS_MAX,
    connectionsPerAddressMax: environment.CONNECTIONS_PER_ADDRESS_MAX,
    packagesDir: environment.PACKAGES_DIR ?? null,
    dashboardDir: environment.DASHBOARD_DIR ?? null,
    webhooks: {
      allowPrivate: environment.ALLOW_PRIVATE_WEBHOOKS,
      ports: environment.WEBHOOK_PORTS?.split(',').map(Number) ?? [],
    },
    logLevel: environment.LOG_LEVEL,
    trustProxy: environment.TRUST_PROXY ?? null,
  });
}

function issuerConfig(environment: Static<typeof Environment>): IssuerConfig | null {
  const { OIDC_ISSUER: url, OIDC_CLIENT_ID: clientId, PUBLIC_URL: publicUrl } = environment;
  if (url === undefined) return null;
  const faults = [
    ...(clientId === undefined ? ['OIDC_CLIENT_ID: is not set, but OIDC_ISSUER is'] : []),
    ...(publicUrl === undefined ? ['PUBLIC_URL: is not set, but OIDC_ISSUER is'] : []),
    // Cookies and tokens can be read on the way over plain http.
    ...[['OIDC_ISSUER', url] as const, ['PUBLIC_URL', publicUrl ?? url] as const]
      .filter(([, address]) => !isSafeTransport(address))
      .map(([name]) => `${name}: has to be https outside this machine`),
  ];
  const machineAudience = environment.MACHINE_AUDIENCE ?? `${publicUrl}/api`;
  // The audience of an ID token is the client: if it were also ours, a sign-in elsewhere would open the API.
  const clients = [clientId, environment.OIDC_CLI_CLIENT_ID];
  if (clients.includes(machineAudience)) faults.push('MACHINE_AUDIENCE: is a client id');
  if (environment.MCP_URL !== undefined && environment.MCP_URL === machineAudience) {
    faults.push('MACHINE_AUDIENCE: is the MCP_URL');
  }
  if (faults.length > 0 || clientId === undefined) throw new ConfigError(faults);
  return {
    url,
    clientId,
    clientSecret: environment.OIDC_CLIENT_SECRET ?? null,
    cliClientId: environment.OIDC_CLI_CLIENT_ID ?? null,
    orgClaim: environment.OIDC_ORG_CLAIM,
    orgNameClaim: environment.OIDC_ORG_NAME_CLAIM,
    roleClaim: environment.OIDC_ROLE_CLAIM ?? null,
    machineAudience,
  };
}

function hostAndPort(address: string): { host: string; port: number } {
  const colon = address.lastIndexOf(':');
  return { host: address.slice(0, colon).replace(/^\[(.*)\]$/, '$1'), port: Number(address.slice(colon + 1)) };
}
