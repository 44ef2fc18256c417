// The notifier's configuration: read once at start, with all faults reported at once.
import { isIP } from 'node:net';
import { ConfigError, readEnvironment, type Secret, SecretText } from '@methods/config/environment';
import type { LogLevel } from '@methods/logging/logger';
import type { WebhookUrlPolicy } from '@methods/webhook-url/check-webhook-url';
import { Type } from 'typebox';
import type { LinkSettings } from './answer-link/answer-link.ts';
import { DEFAULT_RETRY_MS, MAIL_RETRY_MS } from './delivery/schedule.ts';

const FROM = '^([^<>@\\r\\n]* <[^\\s<>@]+@[^\\s<>@]+>|[^\\s<>@]+@[^\\s<>@]+)$';
const ADDRESS = '^\\S+:[0-9]{1,5}$';

const Environment = Type.Object({
  /** host:port of the gRPC server; port 0 picks a free one. */
  LISTEN: Type.String({ pattern: ADDRESS }),
  POSTGRES_URL: SecretText({ pattern: '^postgres(ql)?://' }),
  NATS_URL: SecretText({ pattern: '^(nats|tls)://' }),
  /** host:port of the method registry, which stores the signing secrets. */
  METHOD_REGISTRY_URL: Type.String({ pattern: ADDRESS }),
  /** Ports that a webhook may use besides 443, separated by commas. */
  WEBHOOK_PORTS: Type.String({ default: '', pattern: '^[0-9, ]*$' }),
  /** Allows http, any port and private addresses: for a local stack, or receivers inside one's own network. */
  ALLOW_PRIVATE_WEBHOOKS: Type.Boolean({ default: false }),
  /** Addresses of name servers, separated by commas, each with a port if it is not 53; default: the system's. */
  WEBHOOK_NAME_SERVERS: Type.String({ default: '', pattern: '^[0-9A-Fa-f.:, \\[\\]]*$' }),
  /** Waits before the redeliveries in ms, separated by commas; their number is the number of redeliveries. */
  WEBHOOK_RETRY_MS: Type.String({ default: DEFAULT_RETRY_MS.join(','), pattern: '^[0-9]+( *, *[0-9]+){0,9}$' }),
  /** For one whole try. */
  WEBHOOK_TIMEOUT_MS: Type.Integer({ default: 10_000, minimum: 50, maximum: 60_000 }),
  /** How long a node reserves a delivery; the deliveries of a dead node are due again after this. */
  WEBHOOK_CLAIM_MS: Type.Integer({ default: 20_000, minimum: 1_000, maximum: 120_000 }),
  /**
   * Base64 of 32 bytes, the same for all replicas: answer links are derived from it. With a new key, mails that are
   * sent again have new links; links already sent keep working.
   */
  LINK_KEY: Type.Optional(SecretText({ pattern: '^[A-Za-z0-9+/]{43}=$' })),
  /** The URL at which people reach the gateway, without a slash at the end: answer links begin with it. */
  PUBLIC_URL: Type.Optional(Type.String({ pattern: '^https?://[^\\s?#]*[^/\\s?#]$' })),
  /**
   * The SMTP server: smtp://user:password@host:port, or smtps:// for TLS from the start. Without it no mail is sent.
   */
  SMTP_URL: Type.Optional(SecretText({ pattern: '^smtps?://[^\\s]+$' })),
  /** An address, or a name and an address: Methods <methods@example.com>. */
  MAIL_FROM: Type.Optional(Type.String({ pattern: FROM, maxLength: 320 })),
  /** Waits before the second and later tries of a mail, in ms, separated by commas. */
  MAIL_RETRY_MS: Type.String({ default: MAIL_RETRY_MS.join(','), pattern: '^[0-9]+( *, *[0-9]+){0,19}$' }),
  /** The pause between two searches for deliveries whose retention is over. */
  RETENTION_SWEEP_MS: Type.Integer({ default: 3_600_000, minimum: 10, maximum: 86_400_000 }),
  LOG_LEVEL: Type.Enum(['debug', 'info', 'warn', 'error', 'silent'], { default: 'info' }),
});

export interface Config {
  readonly listen: string;
  readonly postgresUrl: Secret;
  readonly natsUrl: Secret;
  readonly methodRegistryUrl: string;
  readonly webhookUrls: WebhookUrlPolicy;
  /** Empty: the system's. */
  readonly nameServers: readonly string[];
  readonly retryMs: readonly number[];
  readonly timeoutMs: number;
  readonly claimMs: number;
  readonly retentionSweepMs: number;
  /** Null: there are no answer links. */
  readonly links: LinkSettings | null;
  /** Null: no mail is sent. */
  readonly mail: MailSettings | null;
  readonly logLevel: LogLevel;
}

export interface MailSettings {
  readonly smtpUrl: Secret;
  readonly from: string;
  readonly links: LinkSettings;
  readonly retryMs: readonly number[];
}

/** @throws ConfigError with one line a fault. */
export function readConfig(source: Readonly<Record<string, string | undefined>> = process.env): Config {
  const environment = readEnvironment(Environment, source);
  const timeoutMs = environment.WEBHOOK_TIMEOUT_MS;
  const claimMs = environment.WEBHOOK_CLAIM_MS;
  const ports = numbersOf(environment.WEBHOOK_PORTS);
  const nameServers = partsOf(environment.WEBHOOK_NAME_SERVERS);
  const { LINK_KEY: linkKey, PUBLIC_URL: publicUrl } = environment;
  const { SMTP_URL: smtpUrl, MAIL_FROM: from } = environment;
  const links = linkKey === undefined || publicUrl === undefined ? null : { key: linkKey, publicUrl };
  const faults = [
    ...(smtpUrl !== undefined && from === undefined ? ['MAIL_FROM: is not set, but SMTP_URL is'] : []),
    ...(smtpUrl !== undefined && linkKey === undefined ? ['LINK_KEY: is not set, but SMTP_URL is'] : []),
    ...(smtpUrl !== undefined && !URL.canParse(smtpUrl.reveal()) ? ['SMTP_URL: is no URL'] : []),
    ...(linkKey !== undefined && publicUrl === undefined ? ['PUBLIC_URL: is not set, but LINK_KEY is'] : []),
    ...(nameServers.every(isServer) ? [] : ['WEBHOOK_NAME_SERVERS: must be IP addresses, each with a port or without']),
    // If a claim expired during a try, another node would send the same delivery at the same time.
    ...(claimMs < 2 * timeoutMs ? ['WEBHOOK_CLAIM_MS: must be at least twice WEBHOOK_TIMEOUT_MS'] : []),
    ...(ports.some((port) => port < 1 || port > 65_535) ? ['WEBHOOK_PORTS: must be ports, 1 to 65535'] : []),
  ];
  if (faults.length > 0) throw new ConfigError(faults);
  return Object.freeze({
    listen: environment.LISTEN,
    postgresUrl: environment.POSTGRES_URL,
    natsUrl: environment.NATS_URL,
    methodRegistryUrl: environment.METHOD_REGISTRY_URL,
    webhookUrls: { allowPrivate: environment.ALLOW_PRIVATE_WEBHOOKS, ports },
    nameServers,
    retryMs: numbersOf(environment.WEBHOOK_RETRY_MS),
    timeoutMs,
    claimMs,
    retentionSweepMs: environment.RETENTION_SWEEP_MS,
    links,
    mail:
      smtpUrl === undefined || from === undefined || links === null
        ? null
        : { smtpUrl, from, links, retryMs: numbersOf(environment.MAIL_RETRY_MS) },
    logLevel: environment.LOG_LEVEL,
  });
}

function numbersOf(list: string): number[] {
  return partsOf(list).map(Number);
}

function partsOf(list: string): string[] {
  return list
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function isServer(text: string): boolean {
  if (isIP(text) !== 0) return true;
  const [, address = '', port = ''] = /^\[?([^\]]*?)\]?:(\d{1,5})$/.exec(text) ?? [];
  return isIP(address) !== 0 && Number(port) >= 1 && Number(port) <= 65_535;
}
