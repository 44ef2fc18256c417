// The registry's configuration: read once at start, all faults told at once.
import { readEnvironment, type Secret, SecretText } from '@methods/config/environment';
import type { LogLevel } from '@methods/logging/logger';
import { Type } from 'typebox';

const Environment = Type.Object({
  /** host:port of the gRPC server; port 0 takes a free one. */
  LISTEN: Type.String({ pattern: '^\\S+:[0-9]{1,5}$' }),
  POSTGRES_URL: SecretText({ pattern: '^postgres(ql)?://' }),
  NATS_URL: SecretText({ pattern: '^(nats|tls)://' }),
  /** Base64 of 32 bytes. Another key than the one the webhook secrets were stored under makes them unreadable. */
  SECRETS_KEY: SecretText({ pattern: '^[A-Za-z0-9+/]{43}=$' }),
  LOG_LEVEL: Type.Enum(['debug', 'info', 'warn', 'error', 'silent'], { default: 'info' }),
});

export interface Config {
  readonly listen: string;
  readonly postgresUrl: Secret;
  readonly natsUrl: Secret;
  /** Base64 of 32 bytes. */
  readonly secretsKey: Secret;
  readonly logLevel: LogLevel;
}

/** @throws ConfigError with one line a fault. */
export function readConfig(source: Readonly<Record<string, string | undefined>> = process.env): Config {
  const environment = readEnvironment(Environment, source);
  return Object.freeze({
    listen: environment.LISTEN,
    postgresUrl: environment.POSTGRES_URL,
    natsUrl: environment.NATS_URL,
    secretsKey: environment.SECRETS_KEY,
    logLevel: environment.LOG_LEVEL,
  });
}
