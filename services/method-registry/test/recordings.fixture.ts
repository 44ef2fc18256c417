// Recordings, and helpers that send them to a registry, for tests.

import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { MethodId, OrgId, UploadId } from '@methods/base/ids';
import type { UploadService } from '@methods/proto/registry/v1/upload_service_pb';
import type { Client } from '@methods/rpc/client';
import { TEST_DOER } from '@methods/test/harness/test-doer';

type UploadClient = Client<typeof UploadService>;

/** A browser's HAR of a small shop. */
export const SHOP_HAR = readFileSync(
  new URL('../../../libs/method/src/recording/fixtures/shop-refund.har', import.meta.url),
);
/** Of Chrome's own recorder. */
export const TABLE_RECORDING = readFileSync(
  new URL('../../../libs/method/src/recording/fixtures/book-table.recorder.json', import.meta.url),
);

const CHUNK_BYTES = 1024 * 1024;

export function newUpload(uploads: UploadClient, orgId: OrgId, size: number, more = {}) {
  return uploads.createUpload({
    orgId,
    idempotencyHash: randomBytes(32),
    tokenSha256: randomBytes(32),
    fileName: 'refund an order.har',
    contentType: 'application/json',
    sizeBytes: size,
    doer: TEST_DOER,
    ...more,
  });
}

/** Sends all of it; returns the reply to the last byte. */
export async function sendRecording(
  uploads: UploadClient,
  { orgId, uploadId }: { orgId: OrgId; uploadId: UploadId },
  bytes: Buffer,
) {
  for (let at = 0; ; at += CHUNK_BYTES) {
    const { upload } = await uploads.appendUpload({
      orgId,
      uploadId,
      offsetBytes: at,
      chunk: bytes.subarray(at, at + CHUNK_BYTES),
    });
    if (at + CHUNK_BYTES >= bytes.length) return upload;
  }
}

/** Returns a method created from this recording, whose build may still be in progress. */
export async function recordedMethod(uploads: UploadClient, orgId: OrgId, bytes: Buffer, more = {}): Promise<MethodId> {
  const { upload } = await newUpload(uploads, orgId, bytes.length, more);
  const whole = await sendRecording(uploads, { orgId, uploadId: upload?.uploadId ?? 'upl_none' }, bytes);
  return whole?.method?.methodId ?? ('' as MethodId);
}
