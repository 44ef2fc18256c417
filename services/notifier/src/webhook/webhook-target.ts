// Decides where a try may connect to. The URL is parsed once and its name resolved once; every address must pass, and
// the connection goes to these addresses, so a name that resolves differently a moment later changes nothing.
import {
  allowsHost,
  checkWebhookUrl,
  isPublicAddress,
  literalAddress,
  type WebhookUrlPolicy,
} from '@methods/webhook-url/check-webhook-url';
import type { HostResolver, ResolvedAddress } from './host-resolver.ts';
import { TryFailed } from './try-failed.ts';

export interface WebhookTarget {
  readonly url: URL;
  /** Checked, at least one, in the resolver's order. */
  readonly addresses: readonly [ResolvedAddress, ...ResolvedAddress[]];
}

export interface TargetRules {
  /** The operator's. */
  readonly policy: WebhookUrlPolicy;
  /** The organization's: host names it sends webhooks to; empty: any. */
  readonly hosts: readonly string[];
}

/** A name may have many addresses: all are checked, and this many are tried. */
const ADDRESSES_TRIED_MAX = 4;

/** Rejects with TryFailed. */
export async function resolveTarget(
  urlText: string,
  { policy, hosts }: TargetRules,
  resolve: HostResolver,
): Promise<WebhookTarget> {
  const check = checkWebhookUrl(urlText, policy);
  if (!check.ok) throw new TryFailed('invalid_url', check.reason);
  if (!allowsHost(hosts, check.url.hostname)) throw new TryFailed('host_not_allowed');
  const addresses = await addressesOf(check.url, resolve);
  // One bad address refuses the name, since a client could use any of them.
  if (!policy.allowPrivate && !addresses.every(({ address }) => isPublicAddress(address))) {
    throw new TryFailed('address_not_public');
  }
  const [first, ...others] = addresses.slice(0, ADDRESSES_TRIED_MAX);
  if (first === undefined) throw new TryFailed('dns_failed', 'no address');
  return { url: check.url, addresses: [first, ...others] };
}

async function addressesOf(url: URL, resolve: HostResolver): Promise<readonly ResolvedAddress[]> {
  const literal = literalAddress(url);
  if (literal !== null) return [{ address: literal, family: literal.includes(':') ? 6 : 4 }];
  try {
    return await resolve(url.hostname);
  } catch (error) {
    throw new TryFailed('dns_failed', errorCode(error));
  }
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';
}
