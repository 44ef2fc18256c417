// Reads the worker's configuration once at start and reports all faults together. Every other variable of the
// environment may be a secret that a method declares.
import { join, resolve } from 'node:path';
import { parseBearerKey } from '@methods/auth/service-key';
import type { ProductionId } from '@methods/base/ids';
import { ConfigError, readEnvironment, SecretText } from '@methods/config/environment';
import type { LogLevel } from '@methods/logging/logger';
import { Type } from 'typebox';

const ADDRESS = '([^\\s,/]+:[0-9]{1,5}|https://[^\\s,/]+/?)';

const Environment = Type.Object({
  /** The run-scheduler's worker endpoints, comma-separated: host:port, or https://host:port for TLS. */
  METHODS_GRPC_URL: Type.String({ pattern: `^${ADDRESS}(,${ADDRESS})*$` }),
  SERVICE_API_KEY: SecretText(),
  /** Production ids (wf_...), comma-separated, at most as many as a node accepts from one worker. */
  WORKER_METHODS: Type.String({ pattern: '^wf_[0-9a-z]{26}(,wf_[0-9a-z]{26}){0,999}$' }),
  /** The number of runs executed at the same time. */
  WORKER_NAME: Type.Optional(Type.String({ maxLength: 100 })),
  WORKER_CONCURRENCY: Type.Integer({ default: 10, minimum: 1, maximum: 10_000 }),
  /** Holds the files of runs and runners. */
  WORKER_DATA_DIR: Type.String({ minLength: 1 }),
  /** Holds the packages of methods. Several workers of one machine may share it. */
  WORKER_CACHE_DIR: Type.Optional(Type.String({ minLength: 1 })),
  /** on: uses the sandbox where bubblewrap works. off: steps see what the worker sees. */
  WORKER_SANDBOX: Type.Enum(['on', 'off'], { default: 'on' }),
  /** Whether packages may run their install scripts. */
  WORKER_ALLOW_INSTALL_SCRIPTS: Type.Boolean({ default: false }),
  /** How long steps may continue after SIGTERM. */
  WORKER_DRAIN_MS: Type.Integer({ default: 25_000, minimum: 0, maximum: 3_600_000 }),
  LOG_LEVEL: Type.Enum(['debug', 'info', 'warn', 'error', 'silent'], { default: 'info' }),
});

export interface Config {
  readonly addresses: readonly string[];
  readonly authPart: string;
  /** Absent: the key was given without it. */
  readonly contentPart?: string | undefined;
  readonly methods: readonly ProductionId[];
  readonly name?: string | undefined;
  readonly concurrency: number;
  readonly dataDir: string;
  readonly cacheDir: string;
  readonly sandbox: boolean;
  readonly allowInstallScripts: boolean;
  readonly drainMs: number;
  readonly logLevel: LogLevel;
  readonly path: string;
  /** All other variables, by name. */
  readonly secrets: ReadonlyMap<string, string>;
}

/** @throws ConfigError with one line per fault. */
export function readConfig(source: Readonly<Record<string, string | undefined>> = process.env): Config {
  const environment = readEnvironment(Environment, source);
  const key = parseBearerKey(environment.SERVICE_API_KEY.reveal());
  if (key === null) throw new ConfigError(['SERVICE_API_KEY: is not a service key, or was mistyped']);
  const secrets = new Map<string, string>();
  for (const [name, value] of Object.entries(source)) {
    if (value !== undefined && !(name in Environment.properties)) secrets.set(name, value);
  }
  return Object.freeze({
    addresses: environment.METHODS_GRPC_URL.split(','),
    authPart: key.authPart,
    contentPart: key.contentPart,
    methods: environment.WORKER_METHODS.split(',') as ProductionId[],
    name: environment.WORKER_NAME,
    concurrency: environment.WORKER_CONCURRENCY,
    dataDir: environment.WORKER_DATA_DIR,
    cacheDir: resolve(environment.WORKER_CACHE_DIR ?? join(environment.WORKER_DATA_DIR, 'environments')),
    sandbox: environment.WORKER_SANDBOX === 'on',
    allowInstallScripts: environment.WORKER_ALLOW_INSTALL_SCRIPTS,
    drainMs: environment.WORKER_DRAIN_MS,
    logLevel: environment.LOG_LEVEL,
    path: source.PATH ?? '/usr/local/bin:/usr/bin:/bin',
    secrets,
  });
}
