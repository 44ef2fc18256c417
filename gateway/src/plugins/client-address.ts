// The address a request comes from, as it is written down.
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';

/** What a trusted proxy passes on may be any text: what is no address is not written anywhere. */
export function clientAddress({ ip }: FastifyRequest): string {
  return isIP(ip) === 0 ? 'unknown' : ip;
}
