// The surfaces of the interface, which accept different credentials, and the access that a route requires.
import type { Role } from '@methods/auth/caller';

/**
 * service: programs, by service key or by a person's machine token. cli: machine tokens only. api: people, by machine
 * or MCP token or by the dashboard's cookie. mcp: MCP tokens only. upload: an upload's own token. public: everyone, without
 * authentication.
 */
export type Surface = 'public' | 'service' | 'cli' | 'api' | 'mcp' | 'upload';

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
