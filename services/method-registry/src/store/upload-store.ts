// The store of uploads; their bytes are in the blob store.
import type { OrgId, UploadId } from '@methods/base/ids';
import type { InjectionToken } from 'tsyringe';
import type { Doer } from '../audit/doer.ts';
import type { Upload } from '../upload/upload.ts';

export interface NewUpload {
  readonly orgId: OrgId;
  /** SHA-256 of the creation key. */
  readonly idempotencyHash: Uint8Array;
  readonly tokenSha256: Uint8Array;
  /** Empty: none was given. */
  readonly displayName: string;
  readonly fileName: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  readonly doer: Doer;
}

/** The creation key's upload gets another link, which ends the one before. */
export type LinkRenewal = Pick<NewUpload, 'orgId' | 'idempotencyHash' | 'tokenSha256' | 'doer'>;

/** A part that the blob store keeps already, to be counted from now on. */
export interface ReceivedPart {
  /** As it was when the part was stored: at another offset, or in another blob, the part is not the next one. */
  readonly upload: Upload;
  readonly partName: string;
  readonly partBytes: number;
  /** Of the method that the last byte makes. */
  readonly displayName: string;
  readonly doer: Doer;
}

export interface AbandonedParts {
  readonly orgId: OrgId;
  readonly uploadId: UploadId;
  readonly blobId: string;
}

export interface UploadStore {
  /** Of any number with one key, one makes the upload. @throws ServiceError not_found, idempotency_conflict. */
  create(upload: NewUpload): Promise<{ readonly upload: Upload; readonly created: boolean }>;
  /** Null where the key made nothing yet. @throws ServiceError idempotency_conflict: the key made a method. */
  renewLink(renewal: LinkRenewal): Promise<Upload | null>;
  /** @throws ServiceError not_found. */
  find(orgId: OrgId, uploadId: UploadId): Promise<Upload>;
  /** Null for unknown, replaced and expired tokens. */
  findByToken(tokenSha256: Uint8Array): Promise<Upload | null>;
  /**
   * False, and nothing changed, where the upload is not at the part's place any more, or its link has ended. The part
   * that makes it whole also makes the method and its build. @throws ServiceError too_large: too many parts.
   */
  receive(part: ReceivedPart): Promise<boolean>;
  /** Parts of an upload in order. */
  partNames(orgId: OrgId, uploadId: UploadId): Promise<readonly string[]>;
  /** The parts of an upload whose link ran out long ago, which begins again if its key ever renews it; null: none. */
  nextAbandoned(): Promise<AbandonedParts | null>;
  /** Once the parts are removed. */
  forgetAbandoned(parts: AbandonedParts): Promise<void>;
}
export const UploadStore: InjectionToken<UploadStore> = Symbol('UploadStore');
