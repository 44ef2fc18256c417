// An upload as a protobuf message.
import { type Upload, uploadState } from '../upload/upload.ts';
import { methodMessage } from './registry-message.ts';

export function uploadMessage(upload: Upload) {
  return {
    uploadId: upload.uploadId,
    orgId: upload.orgId,
    state: uploadState(upload),
    displayName: upload.displayName,
    fileName: upload.fileName,
    contentType: upload.contentType,
    sizeBytes: upload.sizeBytes,
    offsetBytes: upload.offsetBytes,
    createdAtMs: upload.createdAt.getTime(),
    expiresAtMs: upload.expiresAt.getTime(),
    ...(upload.method === null ? {} : { method: methodMessage(upload.method) }),
  };
}
