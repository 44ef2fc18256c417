// The configuration of the development identity provider, which accepts every input: it runs only as a part of a local
// stack, on this machine's own address.
import { ConfigError, readEnvironment, type Secret, SecretText } from '@methods/config/environment';
import type { LogLevel } from '@methods/logging/logger';
import { Type } from 'typebox';

const URL = '^https?://[^\\s]*[^/\\s]$';

const Environment = Type.Object({
  /** 1 in the processes of a local stack. */
  METHODS_LOCAL_STACK: Type.Optional(Type.String()),
  /** 127.0.0.1:port; the issuer is this address. */
  LISTEN: Type.String({ pattern: '^\\S+:[0-9]{1,5}$' }),
  POSTGRES_URL: SecretText({ pattern: '^postgres(ql)?://' }),
  /** Where keys are stored. */
  IDENTITY_FOLDER: Type.String({ minLength: 1 }),
  /** Of the gateway. */
  PUBLIC_URL: Type.String({ pattern: URL }),
  MACHINE_AUDIENCE: Type.String({ pattern: URL }),
  MCP_URL: Type.String({ pattern: URL }),
  LOG_LEVEL: Type.Enum(['debug', 'info', 'warn', 'error', 'silent'], { default: 'info' }),
});

export interface IdentityConfig {
  /** `http://127.0.0.1:port`. */
  readonly issuer: string;
  readonly port: number;
  readonly postgresUrl: Secret;
  readonly folder: string;
  readonly publicUrl: string;
  readonly machineAudience: string;
  readonly mcpUrl: string;
  readonly logLevel: LogLevel;
}

/** @throws ConfigError with one line a fault. */
export function readConfig(source: Readonly<Record<string, string | undefined>> = process.env): IdentityConfig {
  const environment = readEnvironment(Environment, source);
  const port = /^127\.0\.0\.1:([1-9][0-9]*)$/.exec(environment.LISTEN)?.[1];
  const faults = [
    ...(environment.METHODS_LOCAL_STACK === '1'
      ? []
      : ['METHODS_LOCAL_STACK: is not 1; this provider accepts any person and starts only as a part of a local stack']),
    ...(port === undefined || Number(port) > 65_535
      ? ['LISTEN: must be 127.0.0.1 and a port; this provider is only for its own machine']
      : []),
  ];
  if (faults.length > 0) throw new ConfigError(faults);
  return Object.freeze({
    issuer: `http://127.0.0.1:${port}`,
    port: Number(port),
    postgresUrl: environment.POSTGRES_URL,
    folder: environment.IDENTITY_FOLDER,
    publicUrl: environment.PUBLIC_URL,
    machineAudience: environment.MACHINE_AUDIENCE,
    mcpUrl: environment.MCP_URL,
    logLevel: environment.LOG_LEVEL,
  });
}
