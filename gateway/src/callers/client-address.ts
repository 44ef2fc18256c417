// The address a request comes from, in its normal form.
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';

/** A trusted proxy may pass on any text: only addresses are recorded. */
export function clientAddress({ ip }: FastifyRequest): string {
  return isIP(ip) === 0 ? 'unknown' : ip;
}
