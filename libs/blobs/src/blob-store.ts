// Stores large content in parts, separate from the rows that refer to it. This is the interface; Postgres and S3
// implement it.
import type { OrgId } from '@methods/base/ids';

/** Both lower-case letters, digits, `_` and `-`: they are used as keys unchanged. */
export interface BlobAddress {
  /** Part of every key: no organization reaches another's parts, even if it knows their names. */
  readonly orgId: OrgId;
  readonly blobId: string;
}

export const PART_BYTES_MAX = 1024 * 1024;

export interface BlobStore {
  /** Stores 1 byte to 1 MiB; the same name again replaces it. @throws BlobError unavailable. */
  putPart(address: BlobAddress, partName: string, bytes: Uint8Array): Promise<void>;
  /**
   * Returns the named parts, one after the other. @throws BlobError missing, unavailable, possibly after some parts
   * were yielded.
   */
  read(address: BlobAddress, partNames: Iterable<string>): AsyncIterable<Uint8Array>;
  /** Removes all parts; succeeds if there are none. After a failure, repeat it. @throws BlobError unavailable. */
  remove(address: BlobAddress): Promise<void>;
}

/** Its message holds neither names nor content. */
export class BlobError extends Error {
  override readonly name = 'BlobError';

  constructor(
    readonly code: 'missing' | 'unavailable',
    message: string,
    /** The original error; may contain parts, so it is never logged whole. */
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
  }
}

const NAME = /^[a-z0-9_-]{1,128}$/;

/** For stores. @throws TypeError, since the caller's code is at fault. */
export function checkNames({ orgId, blobId }: BlobAddress, partName?: string): void {
  for (const name of [orgId, blobId, ...(partName === undefined ? [] : [partName])]) {
    if (!NAME.test(name)) throw new TypeError('not a name of a blob');
  }
}

/** For stores. @throws TypeError, since the caller's code is at fault. */
export function checkPart(bytes: Uint8Array): void {
  if (bytes.length === 0 || bytes.length > PART_BYTES_MAX) throw new TypeError('a part has 1 byte to 1 MiB');
}
