// The address of a request, as limits count it.
import { isIP, isIPv4, isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';

const PARTS = 8;
const NETWORK_PARTS = 4;

/**
 * Returns an IPv4 address, or the first 64 bits of an IPv6 address, since its owner has all addresses with these bits.
 * All texts of a proxy that are not addresses count as one.
 */
export function countedAddress(ip: string): string {
  const mapped = /^::ffff:([\d.]+)$/i.exec(ip)?.[1] ?? ip;
  if (isIPv4(mapped)) return mapped;
  if (!isIPv6(ip)) return 'unknown';
  const [front = [], back = []] = ip.split('::').map((half) => (half === '' ? [] : half.split(':')));
  const zeros: string[] = Array(Math.max(0, PARTS - front.length - back.length)).fill('0');
  const network = [...front, ...zeros, ...back].slice(0, NETWORK_PARTS);
  return network.map((part) => Number.parseInt(part, 16).toString(16)).join(':');
}

// The address of a request, in its normal form.

/** A trusted proxy may forward any text: only addresses are recorded. */
export function clientAddress({ ip }: FastifyRequest): string {
  return isIP(ip) === 0 ? 'unknown' : ip;
}
