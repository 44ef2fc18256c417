// The run-scheduler's configuration: read once at start, with all faults reported at once.
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { ClaimNames } from '@methods/auth/identity';
import { isSafeTransport } from '@methods/auth/safe-transport';
import { FAULT_POINTS, type FaultPoint, type FaultPointName } from '@methods/base/fault-point';
import { ConfigError, readEnvironment, type Secret, SecretText } from '@methods/config/environment';
import type { LogLevel } from '@methods/logging/logger';
import type { ServerTls } from '@methods/rpc/server';
import { type Static, Type } from 'typebox';

const ADDRESS = '^\\S+:[0-9]{1,5}$';

const NAMES = FAULT_POINTS.join('|');

const Environment = Type.Object({
  /** host:port for gateways and peers; must not be reachable by customers. */
  LISTEN: Type.String({ pattern: ADDRESS }),
  /** host:port for workers, which authenticate with a service key. */
  WORKER_LISTEN: Type.String({ pattern: ADDRESS }),
  /** PEM files: with them, workers connect only over TLS. Read once, at the start. */
  WORKER_TLS_CERTIFICATE_FILE: Type.Optional(Type.String({ minLength: 1 })),
  WORKER_TLS_KEY_FILE: Type.Optional(Type.String({ minLength: 1 })),
  /** host:port at which peers reach LISTEN; LISTEN by default. */
  PEER_ADDRESS: Type.Optional(Type.String({ pattern: ADDRESS })),
  POSTGRES_URL: SecretText({ pattern: '^postgres(ql)?://' }),
  NATS_URL: SecretText({ pattern: '^(nats|tls)://' }),
  /** host:port of the method registry, which knows the keys and versions. */
  METHOD_REGISTRY_URL: Type.String({ pattern: ADDRESS }),
  /** With it, people's access tokens open streams of workers too; the same values as for the gateways. */
  OIDC_ISSUER: Type.Optional(Type.String({ pattern: '^https?://[^\\s?#]+$' })),
  MACHINE_AUDIENCE: Type.Optional(Type.String({ minLength: 1, maxLength: 2_048 })),
  OIDC_ORG_CLAIM: Type.String({ minLength: 1, default: 'org_id' }),
  OIDC_ORG_NAME_CLAIM: Type.String({ minLength: 1, default: 'org_name' }),
  OIDC_ROLE_CLAIM: Type.Optional(Type.String({ minLength: 1 })),
  /** Fixed when a database is made: a run id names its shard. */
  SHARD_COUNT: Type.Integer({ default: 256, minimum: 1, maximum: 1024 }),
  /** A worker that is silent for this long loses its runs. */
  WORKER_LEASE_MS: Type.Integer({ default: 60_000, minimum: 1_000, maximum: 3_600_000 }),
  /** How often workers report what they hold. */
  HEARTBEAT_MS: Type.Integer({ default: 15_000, minimum: 200, maximum: 600_000 }),
  /** A run fails when this many leases are lost. */
  MAX_ATTEMPTS: Type.Integer({ default: 3, minimum: 1, maximum: 100 }),
  /** The pause between two searches for runs whose retention is over. */
  RETENTION_SWEEP_MS: Type.Integer({ default: 3_600_000, minimum: 10, maximum: 86_400_000 }),
  /**
   * For tests: this process kills itself by SIGKILL at one of the named places, unless the file of FAULT_ONCE exists.
   */
  FAULT_POINT: Type.Optional(Type.String({ pattern: `^(${NAMES})(,(${NAMES}))*$` })),
  FAULT_ONCE: Type.Optional(Type.String({ minLength: 1 })),
  LOG_LEVEL: Type.Enum(['debug', 'info', 'warn', 'error', 'silent'], { default: 'info' }),
});

/** Whose access tokens are accepted, and the claims that name their organization and role. */
export interface PeopleConfig extends ClaimNames {
  readonly issuer: string;
  readonly machineAudience: string;
}

export interface Config {
  readonly listen: string;
  readonly workerListen: string;
  /** Null: plain text. */
  readonly workerTls: ServerTls | null;
  readonly peerAddress: string | null;
  readonly postgresUrl: Secret;
  readonly natsUrl: Secret;
  readonly methodRegistryUrl: string;
  /** Null: workers need a service key. */
  readonly people: PeopleConfig | null;
  readonly shardCount: number;
  readonly workerLeaseMs: number;
  readonly heartbeatMs: number;
  readonly maxAttempts: number;
  readonly retentionSweepMs: number;
  /** Null outside tests. */
  readonly faultPoint: FaultPoint | null;
  readonly logLevel: LogLevel;
}

/** @throws ConfigError with one line a fault. */
export function readConfig(source: Readonly<Record<string, string | undefined>> = process.env): Config {
  const environment = readEnvironment(Environment, source);
  if (environment.WORKER_LEASE_MS < 2 * environment.HEARTBEAT_MS) {
    throw new ConfigError(['WORKER_LEASE_MS: must be at least twice HEARTBEAT_MS']);
  }
  const { FAULT_POINT: names, FAULT_ONCE: onceFile } = environment;
  if ((names === undefined) !== (onceFile === undefined)) {
    throw new ConfigError(['FAULT_POINT: comes with FAULT_ONCE, or neither is set']);
  }
  return Object.freeze({
    listen: environment.LISTEN,
    workerListen: environment.WORKER_LISTEN,
    workerTls: tlsOf(environment.WORKER_TLS_CERTIFICATE_FILE, environment.WORKER_TLS_KEY_FILE),
    peerAddress: environment.PEER_ADDRESS ?? null,
    postgresUrl: environment.POSTGRES_URL,
    natsUrl: environment.NATS_URL,
    methodRegistryUrl: environment.METHOD_REGISTRY_URL,
    people: peopleOf(environment),
    shardCount: environment.SHARD_COUNT,
    workerLeaseMs: environment.WORKER_LEASE_MS,
    heartbeatMs: environment.HEARTBEAT_MS,
    maxAttempts: environment.MAX_ATTEMPTS,
    retentionSweepMs: environment.RETENTION_SWEEP_MS,
    faultPoint:
      names === undefined || onceFile === undefined ? null : { names: names.split(',') as FaultPointName[], onceFile },
    logLevel: environment.LOG_LEVEL,
  });
}

function peopleOf(environment: Static<typeof Environment>): PeopleConfig | null {
  const { OIDC_ISSUER: issuer, MACHINE_AUDIENCE: machineAudience } = environment;
  if (issuer === undefined) return null;
  if (machineAudience === undefined) throw new ConfigError(['MACHINE_AUDIENCE: is not set, but OIDC_ISSUER is']);
  if (!isSafeTransport(issuer)) throw new ConfigError(['OIDC_ISSUER: is neither https nor on this machine']);
  return {
    issuer,
    machineAudience,
    orgClaim: environment.OIDC_ORG_CLAIM,
    orgNameClaim: environment.OIDC_ORG_NAME_CLAIM,
    roleClaim: environment.OIDC_ROLE_CLAIM ?? null,
  };
}

function tlsOf(certificateFile: string | undefined, keyFile: string | undefined): ServerTls | null {
  if (certificateFile === undefined && keyFile === undefined) return null;
  if (certificateFile === undefined || keyFile === undefined) {
    throw new ConfigError(['WORKER_TLS_CERTIFICATE_FILE: comes with WORKER_TLS_KEY_FILE, or neither is set']);
  }
  const tls = {
    certificate: readPem('WORKER_TLS_CERTIFICATE_FILE', certificateFile),
    key: readPem('WORKER_TLS_KEY_FILE', keyFile),
  };
  try {
    createSecureContext({ cert: tls.certificate, key: tls.key });
  } catch {
    throw new ConfigError(['WORKER_TLS_CERTIFICATE_FILE: is not a certificate of the key in WORKER_TLS_KEY_FILE']);
  }
  return tls;
}

function readPem(name: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    throw new ConfigError([`${name}: the file cannot be read`]);
  }
}
