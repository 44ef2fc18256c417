// Access tokens of people, verified against the issuer's keys and remembered by their hash, so that a token in use
// costs a hash and a look-up.
import { createHash } from 'node:crypto';
import { checkAccessToken } from '@methods/auth/access-token';
import type { ClaimNames, Identity } from '@methods/auth/identity';
import type { Issuer } from '@methods/auth/issuer';
import type { Clock } from '@methods/base/clock';
import { AgedCache } from '../cache/aged-cache.ts';
import { CallerRefused } from './caller-refused.ts';

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
    const { machineAudience, mcpAudience } = this.options;
    const audiences = mcpAudience === null ? [machineAudience] : [machineAudience, mcpAudience];
    const checked = await checkAccessToken(token, { ...this.options, audiences });
    if (typeof checked === 'string') throw new CallerRefused(checked);
    return {
      forMachines: checked.audiences.has(machineAudience),
      forMcp: mcpAudience !== null && checked.audiences.has(mcpAudience),
      identity: checked.identity,
      expiresAtMs: checked.expiresAtMs,
    };
  }
}
