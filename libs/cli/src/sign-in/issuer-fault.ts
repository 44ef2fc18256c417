// Why an issuer refused a sign-in, as a sentence. Of its answer only the error code is repeated.
import { CommandError } from '../errors/command-error.ts';
import { connectionFault } from '../server/connection-fault.ts';

const WORDS: Readonly<Record<string, readonly [message: string, hint?: string]>> = {
  access_denied: ['the sign-in was refused', 'sign in again and allow it'],
  expired_token: ['the code was not used in time', 'start again'],
  invalid_client: ['the issuer does not know this command line', "the server's operator registers its client there"],
  unauthorized_client: ['the issuer does not allow this way of signing in', 'try it with or without --device'],
  unsupported_grant_type: ['the issuer does not know this way of signing in', 'try it with or without --device'],
  invalid_target: ["the issuer does not know the server's audience", "the server's operator registers it there"],
  invalid_scope: [
    'the issuer does not allow what a sign-in needs',
    "the server's operator allows offline_access there",
  ],
};

/** Codes: `unreachable`, `bad_certificate`, `sign_in_refused`, `bad_issuer`. */
export function issuerFault(issuer: string, error: unknown): CommandError {
  if (error instanceof CommandError) return error;
  const code = oauthError(error);
  if (code !== null) {
    const [message, hint] = WORDS[code] ?? [`the issuer ${issuer} refused the sign-in: ${code}`];
    return new CommandError('sign_in_refused', message, { hint, cause: error });
  }
  if (isConnection(error)) return connectionFault(`the issuer at ${issuer}`, error);
  const message = `the issuer ${issuer} does not respond like an OpenID Connect issuer`;
  const hint = `${detailOf(error)}check OIDC_ISSUER of the server; --debug shows more`;
  return new CommandError('bad_issuer', message, { hint, cause: error });
}

/** `error` of RFC 6749, as the library hands it on; only its fixed form, and never a description. */
export function oauthError(error: unknown): string | null {
  if (!(error instanceof Error) || !('error' in error) || typeof error.error !== 'string') return null;
  return /^[a-z_]{1,60}$/.test(error.error) ? error.error : null;
}

function isConnection(error: unknown): boolean {
  for (let each = error, depth = 0; each instanceof Error && depth < 8; each = each.cause, depth++) {
    if (each.name === 'TimeoutError' || (each instanceof TypeError && each.message === 'fetch failed')) return true;
  }
  return false;
}

function detailOf(error: unknown): string {
  const words = error instanceof Error ? error.message : '';
  return /^[\w "().,'-]{1,120}$/.test(words) ? `${words}; ` : '';
}
