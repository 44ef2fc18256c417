// Resolves the access token of a person to its owner, so that a worker needs no key where its user is signed in. Who is
// a member may run methods, and so a worker. A token is checked again every 20 s, and while the registry or the issuer
// is unavailable it counts until it expires.
import { createHash } from 'node:crypto';
import { checkAccessToken, type TokenRules } from '@methods/auth/access-token';
import { mayActAs, type Role } from '@methods/auth/caller';
import type { Identity } from '@methods/auth/identity';
import type { OrgId, UserId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { LRUCache } from 'lru-cache';
import type { KeyOwner } from './worker-keys.ts';

interface Person {
  readonly orgId: OrgId;
  readonly userId: UserId;
  readonly role: Role;
}

interface Known {
  readonly owner: KeyOwner;
  /** Monotonic. */
  readonly atMs: number;
  /** Wall time. */
  readonly expiresAtMs: number;
}

const FRESH_MS = 20_000;
const TOKENS_MAX = 10_000;
/** Access tokens grow with their claims; a longer text is not a token. */
const CHARACTERS_MAX = 8_192;

export class WorkerPeople {
  private readonly known = new LRUCache<string, Known>({ max: TOKENS_MAX });

  constructor(
    private readonly options: {
      readonly rules: TokenRules;
      /** Creates the member on first use. */
      readonly memberOf: (identity: Identity) => Promise<Person>;
    },
  ) {}

  /** @throws ServiceError unauthorized; forbidden for a viewer */
  async ownerOf(token: string): Promise<KeyOwner> {
    if (token.length > CHARACTERS_MAX) throw new ServiceError('unauthorized');
    const { clock } = this.options.rules;
    const name = createHash('sha256').update(token).digest('base64');
    const known = this.known.get(name);
    if (known !== undefined && clock.wallMs() >= known.expiresAtMs) throw expired();
    if (known !== undefined && clock.monotonicMs() - known.atMs < FRESH_MS) return known.owner;
    try {
      const checked = await this.check(token, name);
      this.known.set(name, checked);
      return checked.owner;
    } catch (error) {
      if (known !== undefined && error instanceof ServiceError && error.code === 'unavailable') return known.owner;
      this.known.delete(name);
      throw error;
    }
  }

  private async check(token: string, name: string): Promise<Known> {
    const { rules, memberOf } = this.options;
    const checked = await checkAccessToken(token, rules);
    if (checked === 'token_expired') throw expired();
    if (typeof checked === 'string') throw new ServiceError('unauthorized');
    if (checked.identity === null) throw new ServiceError('forbidden', 'The sign-in names no organization.');
    const { orgId, userId, role } = await memberOf(checked.identity);
    if (!mayActAs(role, 'member')) throw new ServiceError('forbidden', 'A worker needs the role member or admin.');
    const { expiresAtMs } = checked;
    return { owner: { orgId, keyId: userId, tokenSha256: name }, atMs: rules.clock.monotonicMs(), expiresAtMs };
  }
}

function expired(): ServiceError {
  return new ServiceError('unauthorized', 'The access token has expired.');
}
