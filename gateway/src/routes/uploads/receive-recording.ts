// Forwards the bytes of a recording to the registry as they arrive: at most a chunk of them is held here, and the
// sender is slowed to the registry's pace. Bytes that arrived before a connection broke are stored, so that the sender
// continues from there.
import { ServiceError } from '@methods/errors/service-error';
import type { Upload } from '@methods/proto/registry/v1/upload_service_pb';
import type { RegistryCalls, RequestDoer } from '../../clients/registry-calls.ts';
import { tooLarge } from '../../plugins/error-reply.ts';

const CHUNK_BYTES_MAX = 1024 * 1024;
const APPEND_MS = 30_000;

export interface IncomingBytes {
  readonly upload: Upload;
  /** The position in the recording at which the body begins. */
  readonly offset: number;
  readonly body: AsyncIterable<Buffer>;
  readonly doer: RequestDoer;
}

/**
 * Returns the upload after the body's last byte. Skips bytes that are stored already. @throws ServiceError too_large
 * before the recording's last byte is stored, if the body continues after it
 */
export async function receiveRecording(uploads: RegistryCalls['uploads'], incoming: IncomingBytes): Promise<Upload> {
  const { orgId, uploadId, sizeBytes } = incoming.upload;
  let upload = incoming.upload;
  let held: Buffer[] = [];
  // The position and the number of the held bytes.
  let at = incoming.offset;
  let heldBytes = 0;

  async function pass(): Promise<void> {
    const fresh = Buffer.concat(held).subarray(Math.max(0, upload.offsetBytes - at));
    const offsetBytes = at + heldBytes - fresh.length;
    at += heldBytes;
    held = [];
    heldBytes = 0;
    if (fresh.length === 0) return;
    const request = { orgId, uploadId, offsetBytes, chunk: fresh, doer: incoming.doer };
    const { upload: grown } = await uploads.appendUpload(request, { timeoutMs: APPEND_MS });
    if (grown === undefined) throw new ServiceError('internal');
    upload = grown;
  }

  async function take(bytes: Buffer): Promise<void> {
    if (at + heldBytes + bytes.length > sizeBytes) throw beyondSize(sizeBytes);
    // The last bytes stay held until the body ends: they create the method, which another byte would have to undo.
    if (heldBytes + bytes.length > CHUNK_BYTES_MAX) await pass();
    held.push(bytes);
    heldBytes += bytes.length;
  }

  try {
    for await (const bytes of incoming.body) {
      for (let from = 0; from < bytes.length; from += CHUNK_BYTES_MAX) {
        await take(bytes.subarray(from, from + CHUNK_BYTES_MAX));
      }
    }
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    if (at + heldBytes < sizeBytes) await pass();
    throw new ServiceError('invalid_request', 'The connection broke off before the body was whole.', { cause: error });
  }
  await pass();
  return upload;
}

export function beyondSize(sizeBytes: number): ServiceError {
  return tooLarge('', 'upload_size', `The recording was announced with ${sizeBytes} bytes and has more.`);
}
