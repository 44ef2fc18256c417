// The address a request comes from, as limits count it.
import { isIP, isIPv4, isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';

const PARTS = 8;
const NETWORK_PARTS = 4;

/**
 * An IPv4 address, or the first 64 bits of an IPv6 address: the owner of one has all with these bits. All texts of a
 * proxy that are not addresses count as one.
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

// The address a request comes from, in its normal form.

/** A trusted proxy may pass on any text: only addresses are recorded. */
export function clientAddress({ ip }: FastifyRequest): string {
  return isIP(ip) === 0 ? 'unknown' : ip;
}
