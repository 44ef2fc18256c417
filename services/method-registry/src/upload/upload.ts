// An upload: a recording that is being sent and, from its last byte on, the method created from it.
import type { OrgId, UploadId } from '@methods/base/ids';
import type { Method } from '../method/method.ts';

export const RECORDING_BYTES_MAX = 200 * 1024 * 1024;
/** Larger ones take longer to build, so they never use all places. */
export const LARGE_RECORDING_BYTES = 4 * 1024 * 1024;
/** The bytes of one message; larger bodies are sent in several. */
export const CHUNK_BYTES_MAX = 1024 * 1024;
export const LINK_MS = 24 * 60 * 60 * 1000;

export interface Upload {
  readonly orgId: OrgId;
  readonly uploadId: UploadId;
  /** Empty: none was given. */
  readonly displayName: string;
  readonly fileName: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  readonly offsetBytes: number;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Where its parts are stored. */
  readonly blobId: string;
  /** Null until the last byte has arrived. */
  readonly method: Method | null;
}

export type UploadState = 'waiting' | 'received' | 'building' | 'ready' | 'failed';

export function uploadState({ method }: Upload): UploadState {
  switch (method?.build?.state) {
    case undefined:
      return 'waiting';
    case 'queued':
      return 'received';
    case 'running':
      return 'building';
    case 'succeeded':
      return 'ready';
    case 'failed':
      return 'failed';
  }
}
