// The store of service keys. Neither a key nor a webhook secret in clear ever comes here.
import type { KeyId, OrgId } from '@methods/base/ids';
import type { InjectionToken } from 'tsyringe';
import type { Doer } from '../audit/doer.ts';
import type { KeyUse, ServiceKey } from '../key/service-key.ts';
import type { Page, PageRequest } from '../page/page.ts';

export interface NewServiceKey {
  readonly orgId: OrgId;
  readonly keyId: KeyId;
  readonly name: string;
  readonly authSha256: Uint8Array;
  readonly sealedWebhookSecret: Buffer;
  readonly doer: Doer;
}

export interface MadeServiceKey {
  readonly key: ServiceKey;
  readonly sealedWebhookSecret: Buffer;
  /** False at a repeat. */
  readonly created: boolean;
}

export interface KeyAct {
  readonly orgId: OrgId;
  readonly keyId: KeyId;
  readonly doer: Doer;
}

export interface KeyStore {
  /**
   * A repeat returns the key as created: the same digest and name, by the same doer, of a key that is not revoked.
   * @throws ServiceError not_found without the organization, idempotency_conflict when the digest is known otherwise,
   * invalid_request at 500 live keys.
   */
  create(key: NewServiceKey): Promise<MadeServiceKey>;
  /** Live keys first, newest first. */
  list(orgId: OrgId, page: PageRequest): Promise<Page<ServiceKey>>;
  /** A second time it changes nothing. @throws ServiceError not_found. */
  revoke(act: KeyAct): Promise<{ readonly key: ServiceKey; readonly authSha256: Buffer }>;
  /** The live key of a digest, in any organization; null when unknown or revoked. */
  resolve(authSha256: Uint8Array): Promise<ServiceKey | null>;
  /** Also of a revoked key: its runs continue and are still signed. @throws ServiceError not_found. */
  renewWebhookSecret(act: KeyAct, sealed: Buffer): Promise<void>;
  /** To the minute, never backwards and never ahead of now. Keys that are not there are passed over. */
  noteUse(uses: readonly KeyUse[]): Promise<void>;
  /** Also of a revoked key. @throws ServiceError not_found. */
  sealedWebhookSecret(orgId: OrgId, keyId: KeyId): Promise<Buffer>;
  /** Some sealed secret of any organization, to try SECRETS_KEY on; null when there is none yet. */
  sampleWebhookSecret(): Promise<{ readonly orgId: OrgId; readonly keyId: KeyId; readonly sealed: Buffer } | null>;
}
export const KeyStore: InjectionToken<KeyStore> = Symbol('KeyStore');
