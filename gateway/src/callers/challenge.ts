// The WWW-Authenticate header of a 401: which kind of credential a surface takes, and for MCP clients where to learn
// how to get one (RFC 9728, section 5.1).
import type { GuardedSurface } from './surface.ts';

export function challengeOf(surface: GuardedSurface, mcpUrl: string | null): string {
  if (surface === 'upload') return 'WorkflowUpload';
  if ((surface !== 'api' && surface !== 'mcp') || mcpUrl === null) return 'Bearer';
  const { origin } = new URL(mcpUrl);
  return `Bearer resource_metadata="${origin}${resourceMetadataPath(mcpUrl)}", scope="${CLIENT_SCOPES.join(' ')}"`;
}

/** Scopes an MCP client asks for; it adds offline_access itself. */
export const CLIENT_SCOPES = ['openid', 'profile', 'email'];

/** Where the metadata of a protected resource is found on its server (RFC 9728, section 3.1). */
export function resourceMetadataPath(resource: string): string {
  const { pathname } = new URL(resource);
  return `/.well-known/oauth-protected-resource${pathname === '/' ? '' : pathname}`;
}
