// An upload as the documented JSON object.
import { ServiceError } from '@methods/errors/service-error';
import type { Upload } from '@methods/proto/registry/v1/upload_service_pb';
import type { InputFile } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { timeView } from './party-view.ts';

interface UploadView {
  readonly id: string;
  /** waiting, received, building, ready or failed. */
  readonly state: string;
  readonly display_name: string | null;
  readonly file_name: string;
  readonly content_type: string;
  /** Bytes announced, and bytes stored so far. */
  readonly size: number;
  readonly offset: number;
  readonly created_at: string | null;
  /** When the link expires. */
  readonly expires_at: string | null;
}

/** Returns the upload in a reply, which the registry always sends. */
export function uploadView(upload: Upload | undefined): UploadView {
  if (upload === undefined) throw new ServiceError('internal');
  return {
    id: upload.uploadId,
    state: upload.state,
    display_name: upload.displayName || null,
    file_name: upload.fileName,
    content_type: upload.contentType,
    size: upload.sizeBytes,
    offset: upload.offsetBytes,
    created_at: timeView(upload.createdAtMs),
    expires_at: timeView(upload.expiresAtMs),
  };
}

// A file that was sent for the inputs of runs, as the documented JSON object.
export function fileJson(file: InputFile): string {
  return JSON.stringify({
    file_id: file.fileId,
    name: file.name,
    bytes: file.bytes,
    sha256: file.sha256,
    media_type: file.mediaType,
    expires_at: timeView(file.expiresAtMs),
  });
}
