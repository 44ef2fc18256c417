// What the registry remembers of service keys. Neither a key nor a webhook secret in clear ever comes here.
import type { InjectionToken } from 'tsyringe';
import type { ServiceKey } from '../key/service-key.ts';

export interface NewServiceKey {
  readonly orgId: string;
  readonly keyId: string;
  readonly name: string;
  readonly authSha256: Uint8Array;
  readonly sealedWebhookSecret: Buffer;
}

export interface KeyStore {
  /**
   * @throws ServiceError not_found without the organization, idempotency_conflict when the digest is known,
   * invalid_request at 500 live keys.
   */
  create(key: NewServiceKey): Promise<ServiceKey>;
  /** Live keys first, newest first, at most 1,000. */
  list(orgId: string): Promise<ServiceKey[]>;
  /** A second time it changes nothing. @throws ServiceError not_found. */
  revoke(orgId: string, keyId: string): Promise<{ readonly key: ServiceKey; readonly authSha256: Buffer }>;
  /** The live key of a digest, in whichever organization; null when unknown or revoked. */
  resolve(authSha256: Uint8Array): Promise<ServiceKey | null>;
  /** Also of a revoked key. @throws ServiceError not_found. */
  sealedWebhookSecret(orgId: string, keyId: string): Promise<Buffer>;
  /** Some sealed secret of any organization, to try SECRETS_KEY on; null when there is none yet. */
  sampleWebhookSecret(): Promise<{ readonly orgId: string; readonly keyId: string; readonly sealed: Buffer } | null>;
}
export const KeyStore: InjectionToken<KeyStore> = Symbol('KeyStore');
