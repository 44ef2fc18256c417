// The gateway's view of the method registry: keys, published pointers and versions, fetched once and cached. Changes
// arrive with the replies to this gateway's own publications and revocations, and over the bus; an entry whose change
// event is lost expires within 30 s. While the registry is unavailable the gateway uses its cache.

import type { Caller } from '@methods/auth/caller';
import { authSha256 } from '@methods/auth/service-key';
import type { Clock } from '@methods/base/clock';
import type { KeyId, MethodId, OrgId, VersionId } from '@methods/base/ids';
import type { Stoppable } from '@methods/base/stoppable';
import { ServiceError } from '@methods/errors/service-error';
import type { RegistryChanged } from '@methods/proto/event/v1/event_pb';
import { MethodRegistryService } from '@methods/proto/registry/v1/method_registry_service_pb';
import { type Client, rpcClient } from '@methods/rpc/client';
import { LRUCache } from 'lru-cache';
import { AgedCache } from '../cache/aged-cache.ts';
import type { SourceThreads } from '../sources/source-threads.ts';
import { KeyLookups } from './key-lookups.ts';
import type { KeyUse } from './key-uses.ts';
import { type MethodVersion, methodVersion } from './method-version.ts';

export interface MethodRegistryOptions {
  /** `host:port`. */
  readonly address: string;
  readonly clock: Clock;
  readonly sources: SourceThreads;
}

const CALL_MS = 3_000;
const PROBE_MS = 1_000;
const AGE_MS = 30_000;
/** A new key that was used too early works after this time, and a wrong one costs one look-up in it. */
const UNKNOWN_KEY_AGE_MS = 1_000;
const UNKNOWN_KEYS_MAX = 10_000;
const GRANT_BYTES = 1_200;
const MIB = 1024 * 1024;

export class MethodRegistry implements Stoppable {
  private readonly client: Client<typeof MethodRegistryService>;
  // By the hex hash of the key, which events use as well; the key itself is not stored. Null: revoked.
  private readonly callers: AgedCache<Caller | null>;
  // Separate, so that a flood of made-up keys evicts no real one.
  private readonly unknownKeys: LRUCache<string, true>;
  private readonly lookups: KeyLookups;
  private readonly published: AgedCache<VersionId | ''>;
  private readonly versions: AgedCache<MethodVersion>;

  constructor(private readonly options: MethodRegistryOptions) {
    const { address, clock } = options;
    this.client = rpcClient(MethodRegistryService, address);
    this.lookups = new KeyLookups(clock);
    this.callers = new AgedCache<Caller | null>({
      clock,
      bytesMax: 16 * MIB,
      ageMsOf: (caller) => (caller === null ? UNKNOWN_KEY_AGE_MS : AGE_MS),
      bytesOf: (caller) =>
        500 + (caller?.kind === 'service_key' ? GRANT_BYTES * (caller.contentGrants?.length ?? 0) : 0),
    });
    this.unknownKeys = new LRUCache<string, true>({
      max: UNKNOWN_KEYS_MAX,
      ttl: UNKNOWN_KEY_AGE_MS,
      ttlResolution: 0,
      perf: { now: () => clock.monotonicMs() },
    });
    this.published = new AgedCache({ clock, bytesMax: 16 * MIB, ageMsOf: () => AGE_MS, bytesOf: () => 200 });
    this.versions = new AgedCache<MethodVersion>({
      clock,
      bytesMax: 256 * MIB,
      ageMsOf: () => Number.POSITIVE_INFINITY,
      bytesOf: ({ bytes }) => bytes,
    });
  }

  /**
   * Returns the owner of this key (`sk_<auth part>`), or null for an unknown key. @throws ServiceError rate_limited if
   * the address sends too many unknown keys at a time
   */
  callerOf(authPart: string, address: string): Caller | null | Promise<Caller | null> {
    const hash = authSha256(authPart);
    const name = hash.toString('hex');
    if (this.unknownKeys.has(name)) return null;
    // A key in use is looked up again, regardless of other keys from the same address.
    const counted = this.callers.has(name) ? null : address;
    const caller = this.callers.get(name, () => this.lookUpKey(hash, counted));
    if (caller instanceof Promise) return caller.then((found) => this.noted(name, found));
    return this.noted(name, caller);
  }

  /**
   * Returns the version that a start names: `published` or a version id. `methodId` is bare.
   * @throws not_found, not_published
   */
  versionToStart(
    orgId: OrgId,
    methodId: MethodId,
    version: VersionId | 'published',
  ): MethodVersion | Promise<MethodVersion> {
    if (version !== 'published') return this.version(orgId, methodId, version);
    const published = this.published.get(`${orgId}/${methodId}`, () => this.publishedVersion(orgId, methodId));
    if (typeof published === 'string') return this.publishedOr(orgId, methodId, published);
    return published.then((versionId) => this.publishedOr(orgId, methodId, versionId));
  }

  /** Returns a saved version, which never changes. @throws not_found */
  version(orgId: OrgId, methodId: MethodId, versionId: VersionId): MethodVersion | Promise<MethodVersion> {
    return this.versions.get(`${orgId}/${methodId}/${versionId}`, () => this.loadVersion(orgId, methodId, versionId));
  }

  /** Drops what an event names. A revoked key is refused from here on. */
  onChanged(change: RegistryChanged): void {
    if (change.kind === 'key') {
      this.callers.drop(change.authSha256);
      this.unknownKeys.delete(change.authSha256);
    } else if (change.kind === 'method') {
      this.published.expire(`${change.orgId}/${change.id}`);
    }
  }

  /**
   * Called with the reply to a publication: the next start here must not wait for its event. Another gateway may have
   * published since, so this version is only used if the registry cannot be asked.
   */
  onPublished(orgId: OrgId, methodId: MethodId, versionId: VersionId): void {
    this.published.put(`${orgId}/${methodId}`, versionId);
  }

  /** Called with the reply to a revocation, which has no digest of the key. */
  onRevoked(keyId: KeyId): void {
    this.callers.dropWhere((caller) => caller?.kind === 'service_key' && caller.keyId === keyId);
  }

  /** Events may have been missed: entries are fetched again before their next use. */
  onEventsMissed(): void {
    this.callers.expireAll();
    this.published.expireAll();
  }

  /** Reports when keys were last used; a repeat is harmless. */
  async noteKeyUses(uses: readonly KeyUse[]): Promise<void> {
    await this.client.noteKeyUse({ uses: [...uses] }, { timeoutMs: CALL_MS });
  }

  /** Reports whether the registry responds. */
  async answers(): Promise<boolean> {
    try {
      await this.client.resolveServiceKey({ authSha256: new Uint8Array(32) }, { timeoutMs: PROBE_MS });
      return true;
    } catch (error) {
      return error instanceof ServiceError && error.code !== 'unavailable' && error.code !== 'internal';
    }
  }

  stop(): void {
    this.client.close();
  }

  private publishedOr(
    orgId: OrgId,
    methodId: MethodId,
    versionId: VersionId | '',
  ): MethodVersion | Promise<MethodVersion> {
    if (versionId === '') throw new ServiceError('not_published');
    return this.version(orgId, methodId, versionId);
  }

  private noted(name: string, caller: Caller | null): Caller | null {
    if (caller !== null) return caller;
    this.unknownKeys.set(name, true);
    this.callers.drop(name);
    return null;
  }

  private lookUpKey(hash: Buffer, address: string | null): Promise<Caller | null> {
    return address === null ? this.resolveKey(hash) : this.lookups.run(address, () => this.resolveKey(hash));
  }

  private async resolveKey(hash: Buffer): Promise<Caller | null> {
    try {
      const found = await this.client.resolveServiceKey({ authSha256: hash }, { timeoutMs: CALL_MS });
      const { key, contentGrants } = found;
      if (!key || key.revokedAtMs > 0) return null;
      const { orgId, keyId } = key;
      return { kind: 'service_key', orgId, keyId, ...(contentGrants.length > 0 && { contentGrants }) };
    } catch (error) {
      if (error instanceof ServiceError && (error.code === 'unauthorized' || error.code === 'not_found')) return null;
      throw error;
    }
  }

  // Returns an empty id if none is published.
  private async publishedVersion(orgId: OrgId, methodId: MethodId): Promise<VersionId | ''> {
    const { method } = await this.client.getMethod({ orgId, methodId }, { timeoutMs: CALL_MS });
    return method?.publishedVersion ?? '';
  }

  private async loadVersion(orgId: OrgId, methodId: MethodId, versionId: VersionId): Promise<MethodVersion> {
    const { version } = await this.client.getVersion({ orgId, methodId, version: versionId }, { timeoutMs: CALL_MS });
    if (!version) throw new ServiceError('not_found');
    return await methodVersion(orgId, version, this.options.sources);
  }
}
