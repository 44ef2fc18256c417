// Decides which addresses a webhook may reach: only those of the public internet. Special, private, local and reserved
// addresses are refused, because our own network and cloud metadata services are behind them.
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

/** True for a plain IPv4 or IPv6 address of the public internet. Other texts, zone ids included, are not. */
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
