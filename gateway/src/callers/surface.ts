// The surfaces of the interface, which accept different credentials, and the access that a route requires.

import { isIP, isIPv4, isIPv6 } from 'node:net';
import type { Role } from '@methods/auth/caller';
import type { FastifyRequest } from 'fastify';

/**
 * service: programs, by service key or by a person's machine token. cli: machine tokens only. api: people, by machine
 * or MCP token or by the dashboard's cookie. mcp: MCP tokens only. upload: an upload's own token. public: everyone, without
 * authentication.
 */
type Surface = 'public' | 'service' | 'cli' | 'api' | 'mcp' | 'upload';

/** A surface whose routes need a caller. */
export type GuardedSurface = Exclude<Surface, 'public'>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The lowest role that may use this route; each role may do everything that lower ones may. */
    access?: Role;
    /** Set by the scope. */
    surface?: GuardedSurface;
  }
}

/** A route of the running server, for tests and documents that must list all of them. */
export interface RouteRow {
  readonly method: string;
  /** As registered, for example `/v1/runs/:id`. */
  readonly url: string;
  readonly surface: Surface;
  /** Null if roles do not apply: on public routes and for upload tokens. */
  readonly access: Role | null;
}

/** Reports whether the path has the prefix of this surface; a route elsewhere would be guarded by the wrong rules. */
export function isOfSurface(surface: GuardedSurface, url: string): boolean {
  switch (surface) {
    case 'service':
      return url.startsWith('/v1/');
    case 'cli':
      return url.startsWith('/api/cli/');
    case 'mcp':
      return url === '/mcp';
    case 'upload':
      return /^\/api\/workflow-uploads\/:id\//.test(url);
    case 'api':
      return url.startsWith('/api/') && !url.startsWith('/api/cli/');
  }
}

// The address of a request, as limits count it.
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
