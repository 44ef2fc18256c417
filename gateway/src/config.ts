// The gateway's configuration: read once at start, all faults told at once.
import { readEnvironment, type Secret, SecretText } from '@methods/config/environment';
import type { LogLevel } from '@methods/logging/logger';
import type { WebhookUrlPolicy } from '@methods/webhook-url/check-webhook-url';
import { Type } from 'typebox';

const ADDRESS = '\\S+:[0-9]{1,5}';

const Environment = Type.Object({
  /** host:port of the HTTP server; port 0 takes a free one. */
  LISTEN: Type.String({ pattern: `^${ADDRESS}$` }),
  /** Where callers reach this server, without a slash at the end; shown in the API's description. */
  PUBLIC_URL: Type.Optional(Type.String({ pattern: '^https?://[^\\s]*[^/\\s]$' })),
  /** Where workers reach the run-schedulers. */
  GRPC_PUBLIC_URL: Type.Optional(Type.String({ minLength: 1 })),
  /** host:port. */
  METHOD_REGISTRY_URL: Type.String({ pattern: `^${ADDRESS}$` }),
  /** host:port of every run-scheduler node, separated by commas. */
  RUN_SCHEDULER_URLS: Type.String({ pattern: `^${ADDRESS}(,${ADDRESS})*$` }),
  /** Without it a revoked key or a new publish is noticed within 30 s instead of at once. */
  NATS_URL: Type.Optional(SecretText({ pattern: '^(nats|tls)://' })),
  /** Requests a second and key; bursts of twice as many. 0: no limit. */
  RATE_LIMIT_PER_KEY: Type.Integer({ minimum: 0, default: 200 }),
  /** Ports that webhook URLs may use besides 443, separated by commas. */
  WEBHOOK_PORTS: Type.Optional(Type.String({ pattern: '^[0-9]{1,5}(,[0-9]{1,5})*$' })),
  /** Allows webhooks by plain http and to addresses that are not public: for a single machine only. */
  ALLOW_PRIVATE_WEBHOOKS: Type.Boolean({ default: false }),
  LOG_LEVEL: Type.Enum(['debug', 'info', 'warn', 'error', 'silent'], { default: 'info' }),
  /** Addresses or networks, separated by commas, whose X-Forwarded headers are believed. */
  TRUST_PROXY: Type.Optional(Type.String({ minLength: 1 })),
});

export interface Config {
  readonly listen: { readonly host: string; readonly port: number };
  readonly publicUrl: string | null;
  readonly grpcPublicUrl: string | null;
  readonly methodRegistryAddress: string;
  readonly runSchedulerAddresses: readonly string[];
  readonly natsUrl: Secret | null;
  /** Requests a second; 0 is no limit. */
  readonly rateLimitPerKey: number;
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
    methodRegistryAddress: environment.METHOD_REGISTRY_URL,
    runSchedulerAddresses: [...new Set(environment.RUN_SCHEDULER_URLS.split(','))],
    natsUrl: environment.NATS_URL ?? null,
    rateLimitPerKey: environment.RATE_LIMIT_PER_KEY,
    webhooks: {
      allowPrivate: environment.ALLOW_PRIVATE_WEBHOOKS,
      ports: environment.WEBHOOK_PORTS?.split(',').map(Number) ?? [],
    },
    logLevel: environment.LOG_LEVEL,
    trustProxy: environment.TRUST_PROXY ?? null,
  });
}

function hostAndPort(address: string): { host: string; port: number } {
  const colon = address.lastIndexOf(':');
  return { host: address.slice(0, colon).replace(/^\[(.*)\]$/, '$1'), port: Number(address.slice(colon + 1)) };
}
