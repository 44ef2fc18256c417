// A request refused because of its caller, with its challenge. Callers learn only that; the log has the reason.
import type { TokenFault } from '@methods/auth/access-token';
import { ServiceError } from '@methods/errors/service-error';
import type { GuardedSurface } from './surface.ts';

/** For the log. Reveals nothing of the credential itself. */
export type RefusalReason =
  | TokenFault
  | 'no_credential'
  | 'other_kind'
  | 'unknown_key'
  | 'unknown_session'
  | 'unknown_upload_token'
  | 'other_upload'
  | 'tokens_not_taken'
  | 'sign_in_unknown'
  | 'sign_in_declined'
  | 'sign_in_answer'
  | 'no_organization'
  | 'foreign_origin'
  | 'other_organization'
  | 'role';

const FORBIDDEN: ReadonlySet<RefusalReason> = new Set<RefusalReason>([
  'no_organization',
  'foreign_origin',
  'other_organization',
  'role',
]);

function codeOf(reason: RefusalReason): 'unauthorized' | 'forbidden' | 'invalid_request' {
  if (reason.startsWith('sign_in_')) return 'invalid_request';
  return FORBIDDEN.has(reason) ? 'forbidden' : 'unauthorized';
}

export class CallerRefused extends ServiceError {
  constructor(
    readonly reason: RefusalReason,
    message?: string,
  ) {
    super(codeOf(reason), message);
  }
}

/**
 * Returns the WWW-Authenticate header of a 401: the kind of credential that a surface takes, and for MCP clients where
 * to find out how to get one (RFC 9728, section 5.1).
 */
export function challengeOf(surface: GuardedSurface, mcpUrl: string | null): string {
  if (surface === 'upload') return 'WorkflowUpload';
  if ((surface !== 'api' && surface !== 'mcp') || mcpUrl === null) return 'Bearer';
  const { origin } = new URL(mcpUrl);
  return `Bearer resource_metadata="${origin}${resourceMetadataPath(mcpUrl)}", scope="${CLIENT_SCOPES.join(' ')}"`;
}

/** Scopes that an MCP client requests; it adds offline_access itself. */
export const CLIENT_SCOPES = ['openid', 'profile', 'email'];

/** Returns the path of a protected resource's metadata on its server (RFC 9728, section 3.1). */
export function resourceMetadataPath(resource: string): string {
  const { pathname } = new URL(resource);
  return `/.well-known/oauth-protected-resource${pathname === '/' ? '' : pathname}`;
}
