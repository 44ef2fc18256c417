// The store of creation keys. A key belongs to one route permanently: it made a method, or an upload that makes one
// later.
import type { MethodId, OrgId, UploadId } from '@methods/base/ids';
import type { InjectionToken } from 'tsyringe';
import type { Doer } from '../audit/doer.ts';
import type { Method, Version } from '../method/method.ts';
import type { MethodSource } from '../method/method-source.ts';

export interface NewMethod {
  readonly orgId: OrgId;
  /** SHA-256 of the creation key. */
  readonly idempotencyHash: Uint8Array;
  readonly displayName: string;
  /** At least one of source and prompt. */
  readonly source: MethodSource | null;
  /** Empty: none. */
  readonly agentPrompt: string;
  readonly doer: Doer;
}

/** A method with the version it was created with, which need not be current any more. */
export interface CreatedMethod {
  readonly method: Method;
  /** Null: it was created without a source. */
  readonly version: Version | null;
}

export type Creation =
  | ({ readonly kind: 'method' } & CreatedMethod)
  /** `method` is null while the upload waits for bytes. */
  | { readonly kind: 'upload'; readonly uploadId: UploadId; readonly method: Method | null };

export interface CreationStore {
  /** Null when the key made nothing yet. */
  find(orgId: OrgId, idempotencyHash: Uint8Array): Promise<Creation | null>;
  /**
   * Concurrent creations with one key create one method, and all get it.
   * @throws ServiceError not_found, or idempotency_conflict: an upload's key.
   */
  create(method: NewMethod): Promise<CreatedMethod & { readonly created: boolean }>;
  /**
   * Assigns a creation key to an existing method. A key that another creation took meanwhile stays with that creation.
   * @throws ServiceError not_found.
   */
  addKey(orgId: OrgId, idempotencyHash: Uint8Array, methodId: MethodId): Promise<void>;
}
export const CreationStore: InjectionToken<CreationStore> = Symbol('CreationStore');
