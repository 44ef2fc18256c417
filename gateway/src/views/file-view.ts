// A file that was sent for the inputs of runs, as the documented JSON object.
import type { InputFile } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { timeView } from './party-view.ts';

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
