// Access tokens of people, verified against the issuer's keys and remembered by their hash, so that a token in use
// costs a hash and a look-up. Follows RFC 8725 and RFC 9068.
import { createHash } from 'node:crypto';
import type { Clock } from '@methods/base/clock';
import { ServiceError } from '@methods/errors/service-error';
import { errors, type JWTPayload, jwtVerify } from 'jose';
import { AgedCache } from '../cache/aged-cache.ts';
import type { Identity } from '../clients/accounts.ts';
import { CallerRefused, type RefusalReason } from './caller-refused.ts';
import { type ClaimNames, identityOf } from './identity.ts';
import type { Issuer } from './issuer.ts';

export interface AccessTokensOptions extends ClaimNames {
  readonly issuer: Issuer;
  readonly clock: Clock;
  readonly machineAudience: string;
  /** Null: tokens of MCP clients are not accepted. */
  readonly mcpAudience: string | null;
}

export interface VerifiedToken {
  /** The audiences of the token; at least one of the two is set. */
  readonly forMachines: boolean;
  readonly forMcp: boolean;
  /** Null: the token names no organization. */
  readonly identity: Identity | null;
  /** Wall time in ms. */
  readonly expiresAtMs: number;
}

const ALGORITHMS = ['RS256', 'ES256', 'EdDSA', 'Ed25519'];
const TYPES: ReadonlySet<string> = new Set(['at+jwt', 'jwt']);
// Claims that only ID tokens have. An ID token is never a credential, for any audience.
const ID_TOKEN_CLAIMS = ['nonce', 'at_hash', 'c_hash'];
const CLOCKS_DIFFER_S = 5;
/** After this time a token is verified again, so that a key that the issuer withdrew ends its tokens. */
const REMEMBERED_MS = 300_000;
const MIB = 1024 * 1024;

export class AccessTokens {
  private readonly verified: AgedCache<VerifiedToken>;

  constructor(private readonly options: AccessTokensOptions) {
    const { clock } = options;
    this.verified = new AgedCache<VerifiedToken>({
      clock,
      bytesMax: 32 * MIB,
      ageMsOf: ({ expiresAtMs }) => Math.min(expiresAtMs - clock.wallMs(), REMEMBERED_MS),
      bytesOf: () => 1_000,
    });
  }

  /** @throws CallerRefused; ServiceError unavailable while its key cannot be fetched */
  verify(token: string): VerifiedToken | Promise<VerifiedToken> {
    const hash = createHash('sha256').update(token).digest('base64');
    const verified = this.verified.get(hash, () => this.check(token));
    return verified instanceof Promise ? verified.then((late) => this.unexpired(late)) : this.unexpired(verified);
  }

  // A cached token may be used past its age while the issuer is unavailable, but never past its own expiry.
  private unexpired(token: VerifiedToken): VerifiedToken {
    if (this.options.clock.wallMs() >= token.expiresAtMs) throw new CallerRefused('token_expired');
    return token;
  }

  private async check(token: string): Promise<VerifiedToken> {
    const { issuer, clock, machineAudience, mcpAudience } = this.options;
    try {
      const { payload, protectedHeader } = await jwtVerify(token, issuer.keyOf, {
        algorithms: ALGORITHMS,
        issuer: issuer.url,
        audience: mcpAudience === null ? machineAudience : [machineAudience, mcpAudience],
        requiredClaims: ['exp', 'sub'],
        clockTolerance: CLOCKS_DIFFER_S,
        currentDate: new Date(clock.wallMs()),
      });
      const type = protectedHeader.typ?.toLowerCase().replace(/^application\//, '') ?? 'jwt';
      if (!TYPES.has(type) || ID_TOKEN_CLAIMS.some((claim) => claim in payload)) throw new CallerRefused('token_type');
      const audiences = new Set(Array.isArray(payload.aud) ? payload.aud : [payload.aud]);
      return {
        forMachines: audiences.has(machineAudience),
        forMcp: mcpAudience !== null && audiences.has(mcpAudience),
        identity: identityOf(payload, this.options),
        expiresAtMs: endOf(payload),
      };
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      throw new CallerRefused(reasonOf(error));
    }
  }
}

function endOf({ exp = 0 }: JWTPayload): number {
  return (exp + CLOCKS_DIFFER_S) * 1_000;
}

const CLAIM_REASONS: Readonly<Record<string, RefusalReason>> = {
  aud: 'token_audience',
  iss: 'token_issuer',
  nbf: 'token_not_yet_valid',
};

function reasonOf(error: unknown): RefusalReason {
  if (error instanceof errors.JWTExpired) return 'token_expired';
  if (error instanceof errors.JWTClaimValidationFailed) return CLAIM_REASONS[error.claim] ?? 'token_claims';
  if (error instanceof errors.JOSEAlgNotAllowed) return 'token_algorithm';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'token_signature';
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) {
    return 'token_key_unknown';
  }
  return 'malformed';
}
