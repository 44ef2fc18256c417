// A request refused because of its caller. Callers only learn that; the log has the reason.
import { ServiceError } from '@methods/errors/service-error';

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
