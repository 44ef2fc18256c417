// The registry's configuration: read once at start, with all faults reported at once.
import { ConfigError, readEnvironment, type Secret, SecretText } from '@methods/config/environment';
import type { LogLevel } from '@methods/logging/logger';
import { type Static, Type } from 'typebox';

const Environment = Type.Object({
  /** host:port of the gRPC server; port 0 picks a free one. */
  LISTEN: Type.String({ pattern: '^\\S+:[0-9]{1,5}$' }),
  POSTGRES_URL: SecretText({ pattern: '^postgres(ql)?://' }),
  NATS_URL: SecretText({ pattern: '^(nats|tls)://' }),
  /** Base64 of 32 bytes. With another key than before, the stored webhook secrets are unreadable. */
  SECRETS_KEY: SecretText({ pattern: '^[A-Za-z0-9+/]{43}=$' }),
  /** The store of recordings: all of these, or none for Postgres. */
  S3_ENDPOINT: Type.Optional(Type.String({ pattern: '^https?://[^/]+' })),
  S3_REGION: Type.String({ pattern: '^[a-z0-9-]{1,64}$', default: 'us-east-1' }),
  S3_BUCKET: Type.Optional(Type.String({ pattern: '^[a-z0-9][a-z0-9.-]{1,62}$' })),
  S3_ACCESS_KEY_ID: Type.Optional(Type.String({ minLength: 1 })),
  S3_SECRET_ACCESS_KEY: Type.Optional(SecretText({ minLength: 1 })),
  LOG_LEVEL: Type.Enum(['debug', 'info', 'warn', 'error', 'silent'], { default: 'info' }),
});

export type BlobsConfig =
  | { readonly kind: 'postgres' }
  | {
      readonly kind: 's3';
      readonly endpoint: string;
      readonly region: string;
      readonly bucket: string;
      readonly accessKeyId: string;
      readonly secretAccessKey: Secret;
    };

export interface Config {
  readonly listen: string;
  readonly postgresUrl: Secret;
  readonly natsUrl: Secret;
  /** Base64 of 32 bytes. */
  readonly secretsKey: Secret;
  readonly blobs: BlobsConfig;
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
    blobs: blobsOf(environment),
    logLevel: environment.LOG_LEVEL,
  });
}

/** An incomplete configuration of S3 is a fault: recordings would be stored in the wrong place. */
function blobsOf(environment: Static<typeof Environment>): BlobsConfig {
  const {
    S3_ENDPOINT: endpoint,
    S3_REGION: region,
    S3_BUCKET: bucket,
    S3_ACCESS_KEY_ID: accessKeyId,
    S3_SECRET_ACCESS_KEY: secretAccessKey,
  } = environment;
  if (endpoint !== undefined && bucket !== undefined && accessKeyId !== undefined && secretAccessKey !== undefined) {
    return { kind: 's3', endpoint, region, bucket, accessKeyId, secretAccessKey };
  }
  const missing = Object.entries({
    S3_ACCESS_KEY_ID: accessKeyId,
    S3_BUCKET: bucket,
    S3_ENDPOINT: endpoint,
    S3_SECRET_ACCESS_KEY: secretAccessKey,
  }).filter(([, value]) => value === undefined);
  if (missing.length === 4) return { kind: 'postgres' };
  throw new ConfigError(missing.map(([name]) => `${name}: is not set, unlike other variables of S3`));
}
