// Checks whether a text may be a run's webhook URL, only by the text, without a network, and whether an address may be
// reached. The gateway checks when a run starts, the notifier again at each try, with the addresses that a name
// resolves to.

import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Block = [ipaddr.IPv4 | ipaddr.IPv6, number];

// IANA's special-purpose IPv4 blocks are what ipaddr.js does not call "unicast". These it lets through: each cloud's
// own server has an ordinary address.
const SPECIAL_IPV4: readonly Block[] = blocks([
  '168.63.129.16/32', // Azure's wire server
  '100.100.100.200/32', // Alibaba's metadata (inside 100.64.0.0/10 as well)
  '192.88.99.0/24', // 6to4 relays, withdrawn
]);

// IPv6 is an allow list: global unicast, less its special blocks. Mapped, compatible and NAT64 forms of an IPv4
// address lie outside and are refused as a whole, so no second spelling of a private address gets through.
const GLOBAL_UNICAST_IPV6: Block = ipaddr.parseCIDR('2000::/3');
const SPECIAL_IPV6: readonly Block[] = blocks([
  '2001::/23', // protocol assignments: Teredo, benchmarking, ORCHID, AMT, drone ids
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: wraps any IPv4 address
  '2620:4f:8000::/48', // AS112
  '3ffe::/16', // 6bone, returned
  '3fff::/20', // documentation
]);

export interface WebhookUrlPolicy {
  /** Allows http, any port and addresses that are not public. */
  readonly allowPrivate: boolean;
  /** Ports allowed besides 443. */
  readonly ports: readonly number[];
}

type WebhookUrlCheck =
  | { readonly ok: true; readonly url: URL }
  /** `reason` is a sentence for the caller and never repeats the URL. */
  | { readonly ok: false; readonly reason: string };

export const WEBHOOK_URL_LENGTH_MAX = 2048;
/** The length of a DNS name; letters of other scripts are encoded as several. */
export const HOST_LENGTH_MAX = 253;

// The URL parser drops tabs and line breaks and reads a backslash as a slash; other programs do not. A text that two
// readers could read as two hosts is refused.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const AMBIGUOUS = /[\u0000-\u0020\u007f\\]/;
// The parser also forgives missing and extra slashes, and an empty user name.
const SCHEME_AND_HOST = /^https?:\/\/[^/?#]/i;
const USER_INFO = /^[^/]*\/\/[^/?#]*@/;

/** Parses once; on success `url` is what to connect to, its host name in lower case without a trailing dot. */
export function checkWebhookUrl(text: string, policy: WebhookUrlPolicy): WebhookUrlCheck {
  if (text.length > WEBHOOK_URL_LENGTH_MAX) {
    return refused(`A webhook URL has at most ${WEBHOOK_URL_LENGTH_MAX} characters.`);
  }
  if (AMBIGUOUS.test(text)) return refused('A webhook URL holds no spaces, control characters or backslashes.');
  const url = parse(text);
  if (url === null || (isHttp(url) && !SCHEME_AND_HOST.test(text))) return refused('The webhook URL cannot be read.');
  if (url.protocol !== 'https:' && !(policy.allowPrivate && url.protocol === 'http:')) {
    return refused('A webhook URL begins with https://.');
  }
  if (url.username !== '' || url.password !== '' || USER_INFO.test(text)) {
    return refused('A webhook URL holds no user name or password.');
  }
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
  if (url.hostname === '' || url.hostname.endsWith('.')) return refused('The webhook URL names no host.');
  if (url.hostname.length > HOST_LENGTH_MAX) return refused('The host of a webhook URL is longer than a name can be.');
  if (!portAllowed(url, policy)) return refused('A webhook URL uses port 443 or a port the operator allows.');
  if (policy.allowPrivate) return { ok: true, url };
  return isPublicHost(url) ? { ok: true, url } : refused('A webhook URL names a public host.');
}

/** The address in the URL in place of a name, without brackets; null for a name. */
export function literalAddress(url: URL): string | null {
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  return isIP(host) === 0 ? null : host;
}

function isPublicHost(url: URL): boolean {
  const address = literalAddress(url);
  if (address !== null) return isPublicAddress(address);
  // A name without a dot means what the resolver's search list makes of it; localhost is always this machine.
  return url.hostname.includes('.') && !url.hostname.endsWith('.localhost');
}

function portAllowed(url: URL, policy: WebhookUrlPolicy): boolean {
  if (url.port === '0') return false;
  if (policy.allowPrivate || url.port === '' || url.port === '443') return true;
  return policy.ports.includes(Number(url.port));
}

function isHttp(url: URL): boolean {
  return url.protocol === 'https:' || url.protocol === 'http:';
}

function parse(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

function refused(reason: string): WebhookUrlCheck {
  return { ok: false, reason };
}

// Decides which hosts an organization's webhooks may use.

/**
 * `host`: as returned by the URL parser, in lower case and without a trailing dot. A listed name matches itself,
 * `*.example.com` every name below example.com but not example.com. An empty list allows all.
 */
export function allowsHost(hosts: readonly string[], host: string): boolean {
  return hosts.length === 0 || hosts.some((listed) => covers(canonicalHost(listed), host));
}

/** The form of a host name that is compared. */
export function canonicalHost(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

function covers(listed: string, host: string): boolean {
  return listed.startsWith('*.') ? host.endsWith(listed.slice(1)) && host.length > listed.length - 1 : host === listed;
}

/**
 * Only addresses of the public internet may be reached. Special, private, local and reserved ones are refused, because
 * our own network and cloud metadata services are behind them. True for a plain IPv4 or IPv6 address of the public
 * internet. Other texts, zone ids included, are not.
 */
export function isPublicAddress(address: string): boolean {
  if (address.includes('%')) return false;
  const family = isIP(address);
  if (family === 0) return false;
  const parsed = ipaddr.parse(address);
  if (family === 4) return parsed.range() === 'unicast' && !inAny(parsed, SPECIAL_IPV4);
  return parsed.match(GLOBAL_UNICAST_IPV6) && !inAny(parsed, SPECIAL_IPV6);
}

function inAny(address: ipaddr.IPv4 | ipaddr.IPv6, list: readonly Block[]): boolean {
  return list.some((block) => address.match(block));
}

function blocks(ranges: readonly string[]): Block[] {
  return ranges.map((range) => ipaddr.parseCIDR(range));
}
