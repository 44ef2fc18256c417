// Resolves a worker's credential to its owner: a service key here, the access token of a person in WorkerPeople. The
// registry's answers are cached for a while, dropped at once when it reports a changed key, and used past their age
// while it is unavailable: running work must not stop with it.
import { authSha256, parseBearerKey } from '@methods/auth/service-key';
import type { KeyId, OrgId, UserId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { LRUCache } from 'lru-cache';

export interface KeyOwner {
  readonly orgId: OrgId;
  /** The key, or the person who opened the stream with an access token. */
  readonly keyId: KeyId | UserId;
  /** The hash of an access token, since a person has several in turn; absent: a key. */
  readonly tokenSha256?: string;
  /** The content parts of other keys, wrapped for this one; absent: none. */
  readonly contentGrants?: readonly { readonly fromKeyId: string; readonly wrapped: Uint8Array }[];
}

/** Its key, if it is one. */
export function keyed({ keyId, tokenSha256 }: KeyOwner): { keyId?: KeyId } {
  return tokenSha256 === undefined ? { keyId: keyId as KeyId } : {};
}

interface Known extends KeyOwner {
  readonly atMs: number;
}

/**
 * Together with the 5 s of the tick that checks again, and time for the registry to answer, a revoked key is
 * disconnected within 30 s even if the event was lost.
 */
const FRESH_MS = 20_000;
const KEYS_MAX = 10_000;
/**
 * A wrong key that is sent repeatedly costs the registry one lookup a second; a key created just now works after that.
 */
const UNKNOWN_MS = 1_000;

export class WorkerKeys {
  private readonly known = new LRUCache<string, Known>({ max: KEYS_MAX });
  /** Keys that the registry does not have, and when it said so. */
  private readonly unknown = new LRUCache<string, number>({ max: KEYS_MAX });
  /** Lookups begun since the last change of a key. */
  private readonly lookups = new Map<string, Promise<KeyOwner>>();
  private changes = 0;

  constructor(
    private readonly options: {
      readonly nowMs: () => number;
      /** Rejects with `unauthorized` for unknown and revoked keys. */
      readonly resolve: (authSha256: Uint8Array) => Promise<KeyOwner>;
      /** Null: only keys are accepted. */
      readonly people?: { ownerOf(token: string): Promise<KeyOwner> } | null;
    },
  ) {}

  /** Returns the owner of a key from a value of the metadata `authorization`. */
  async ownerOf(authorization: string): Promise<KeyOwner> {
    const person = this.person(authorization);
    if (person !== null) return person;
    const { hash, name } = hashOf(authorization);
    const nowMs = this.options.nowMs();
    const known = this.known.get(name);
    if (known !== undefined && nowMs - known.atMs < FRESH_MS) return known;
    const unknownAtMs = this.unknown.get(name);
    if (unknownAtMs !== undefined && nowMs - unknownAtMs < UNKNOWN_MS) throw new ServiceError('unauthorized');
    const running = this.lookups.get(name);
    if (running) return running;
    const lookup = this.lookUp(name, hash, known).finally(() => {
      if (this.lookups.get(name) === lookup) this.lookups.delete(name);
    });
    this.lookups.set(name, lookup);
    return lookup;
  }

  /** Returns the owner as the registry knows it now. Rejects with `unavailable` without the registry. */
  async askAgain(authorization: string): Promise<KeyOwner> {
    const person = this.person(authorization);
    if (person !== null) return person;
    const { hash, name } = hashOf(authorization);
    return this.lookUp(name, hash, undefined);
  }

  /** Null: it is a key, or people are not accepted. */
  private person(authorization: string): Promise<KeyOwner> | null {
    const { people } = this.options;
    const token = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/.exec(authorization)?.[1];
    return token === undefined || people === undefined || people === null ? null : people.ownerOf(token);
  }

  private async lookUp(name: string, hash: Uint8Array, known: Known | undefined): Promise<KeyOwner> {
    const { changes } = this;
    try {
      const owner = await this.options.resolve(hash);
      // A key changed meanwhile: the answer may be from before.
      if (changes !== this.changes) return await this.options.resolve(hash);
      this.unknown.delete(name);
      this.known.set(name, { ...owner, atMs: this.options.nowMs() });
      return owner;
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'unauthorized') {
        this.known.delete(name);
        this.unknown.set(name, this.options.nowMs());
      } else if (known !== undefined) return known;
      throw error;
    }
  }

  changed(keyId: KeyId): void {
    this.changes++;
    this.lookups.clear();
    for (const [name, owner] of [...this.known]) if (owner.keyId === keyId) this.known.delete(name);
  }
}

function hashOf(authorization: string): { readonly hash: Buffer; readonly name: string } {
  const key = authorization.startsWith('Bearer ') ? parseBearerKey(authorization.slice(7)) : null;
  if (key === null) throw new ServiceError('unauthorized');
  const hash = authSha256(key.authPart);
  return { hash, name: hash.toString('hex') };
}
