// Verifies access tokens of people against the issuer's keys. Follows RFC 8725 and RFC 9068.
import type { Clock } from '@methods/base/clock';
import { ServiceError } from '@methods/errors/service-error';
import { errors, type JWTPayload, jwtVerify } from 'jose';
import { type ClaimNames, type Identity, identityOf } from './identity.ts';
import type { Issuer } from './issuer.ts';

export interface TokenRules extends ClaimNames {
  readonly issuer: Issuer;
  readonly clock: Clock;
  /** A token is for one of these. */
  readonly audiences: readonly string[];
}

export interface CheckedToken {
  readonly audiences: ReadonlySet<unknown>;
  /** Null: the token names no organization. */
  readonly identity: Identity | null;
  /** Wall time in ms. */
  readonly expiresAtMs: number;
}

export type TokenFault =
  | 'malformed'
  | 'token_type'
  | 'token_algorithm'
  | 'token_signature'
  | 'token_key_unknown'
  | 'token_expired'
  | 'token_not_yet_valid'
  | 'token_claims'
  | 'token_audience'
  | 'token_issuer';

const ALGORITHMS = ['RS256', 'ES256', 'EdDSA', 'Ed25519'];
const TYPES: ReadonlySet<string> = new Set(['at+jwt', 'jwt']);
// Claims that only ID tokens have. An ID token is never a credential, for any audience.
const ID_TOKEN_CLAIMS = ['nonce', 'at_hash', 'c_hash'];
const CLOCKS_DIFFER_S = 5;

/** Returns what is wrong with a token as a word. @throws ServiceError unavailable while its key cannot be fetched */
export async function checkAccessToken(token: string, rules: TokenRules): Promise<CheckedToken | TokenFault> {
  const { issuer, clock, audiences } = rules;
  try {
    const { payload, protectedHeader } = await jwtVerify(token, issuer.keyOf, {
      algorithms: ALGORITHMS,
      issuer: issuer.url,
      audience: [...audiences],
      requiredClaims: ['exp', 'sub'],
      clockTolerance: CLOCKS_DIFFER_S,
      currentDate: new Date(clock.wallMs()),
    });
    const type = protectedHeader.typ?.toLowerCase().replace(/^application\//, '') ?? 'jwt';
    if (!TYPES.has(type) || ID_TOKEN_CLAIMS.some((claim) => claim in payload)) return 'token_type';
    return {
      audiences: new Set(Array.isArray(payload.aud) ? payload.aud : [payload.aud]),
      identity: identityOf(payload, rules),
      expiresAtMs: endOf(payload),
    };
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    return faultOf(error);
  }
}

function endOf({ exp = 0 }: JWTPayload): number {
  return (exp + CLOCKS_DIFFER_S) * 1_000;
}

const CLAIM_REASONS: Readonly<Record<string, TokenFault>> = {
  aud: 'token_audience',
  iss: 'token_issuer',
  nbf: 'token_not_yet_valid',
};

function faultOf(error: unknown): TokenFault {
  if (error instanceof errors.JWTExpired) return 'token_expired';
  if (error instanceof errors.JWTClaimValidationFailed) return CLAIM_REASONS[error.claim] ?? 'token_claims';
  if (error instanceof errors.JOSEAlgNotAllowed) return 'token_algorithm';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'token_signature';
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) {
    return 'token_key_unknown';
  }
  return 'malformed';
}
