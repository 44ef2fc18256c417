// A request refused because of its caller, and its challenge. Callers only learn that; the log has the reason.
import { ServiceError } from '@methods/errors/service-error';
import type { GuardedSurface } from './surface.ts';

/** For the log. Says nothing of the credential itself. */
export type RefusalReason =
  | 'no_credential'
  | 'malformed'
  | 'other_kind'
  | 'unknown_key'
  | 'unknown_session'
  | 'unknown_upload_token'
  | 'other_upload'
  | 'tokens_not_taken'
  | 'token_type'
  | 'token_algorithm'
  | 'token_signature'
  | 'token_key_unknown'
  | 'token_expired'
  | 'token_not_yet_valid'
  | 'token_claims'
  | 'token_audience'
  | 'token_issuer'
  | 'sign_in_unknown'
  | 'sign_in_state'
  | 'sign_in_declined'
  | 'sign_in_answer'
  | 'no_organization'
  | 'foreign_origin'
  | 'role';

const FORBIDDEN: ReadonlySet<RefusalReason> = new Set<RefusalReason>(['no_organization', 'foreign_origin', 'role']);

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
 * The WWW-Authenticate header of a 401: which kind of credential a surface takes, and for MCP clients where to learn
 * how to get one (RFC 9728, section 5.1).
 */
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
