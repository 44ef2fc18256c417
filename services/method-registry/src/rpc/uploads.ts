// The RPCs of uploads: the link to which a recording is sent, and the bytes sent to it; and their list.

import { createHash } from 'node:crypto';
import type { UploadId } from '@methods/base/ids';
import { BlobError, type BlobStore } from '@methods/blobs/blob-store';
import { ServiceError } from '@methods/errors/service-error';
import type {
  AppendUploadRequest,
  CreateUploadRequest,
  GetUploadRequest,
  ResolveUploadTokenRequest,
  UploadService,
} from '@methods/proto/registry/v1/upload_service_pb';
import type { ServiceImplementation } from '@methods/rpc/service-definition';
import { inject, injectable } from 'tsyringe';
import type { Doer } from '../audit/audit-entry.ts';
import { Blobs } from '../build/blobs.ts';
import { Builds } from '../build/builds.ts';
import { displayNameFrom } from '../method/method.ts';
import { UploadStore } from '../store/upload-store.ts';
import { boundedText } from '../text/bounded-text.ts';
import { CHUNK_BYTES_MAX, RECORDING_BYTES_MAX, type Upload, uploadState } from '../upload/upload.ts';
import { methodMessage } from './registry-message.ts';
import { digestOf, doerOf, orgIdOf, uploadIdOf } from './request-fields.ts';

/** How often a sender may be overtaken by another one of the same upload before it must retry. */
const TRIES_MAX = 5;

/**
 * Stores the next bytes of a recording. Stored bytes are skipped, so a repeat after a lost reply is harmless; bytes
 * that leave a gap, or are too many, are refused.
 */
@injectable()
class AppendUpload {
  constructor(
    @inject(UploadStore) private readonly uploads: UploadStore,
    @inject(Blobs) private readonly blobs: BlobStore,
    @inject(Builds) private readonly builds: Builds,
  ) {}

  async handle(request: AppendUploadRequest) {
    const orgId = orgIdOf(request.orgId);
    const uploadId = uploadIdOf(request.uploadId);
    const { chunk, offsetBytes } = request;
    if (chunk.length > CHUNK_BYTES_MAX) {
      throw tooLarge('chunk_bytes', 'A chunk holds at most 1 MiB.', `It has ${chunk.length} bytes.`);
    }
    const doer = request.doer === undefined ? uploader(uploadId) : doerOf(request.doer);
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const upload = await this.uploads.find(orgId, uploadId);
      const rest = missingBytes(upload, offsetBytes, chunk);
      if (rest.length === 0) return { upload: uploadMessage(upload) };
      if (await this.receive(upload, rest, doer)) {
        const received = await this.uploads.find(orgId, uploadId);
        if (received.method !== null) this.builds.wake();
        return { upload: uploadMessage(received) };
      }
    }
    throw new ServiceError('unavailable', 'Another client is sending the same upload.');
  }

  private async receive(upload: Upload, bytes: Uint8Array, doer: Doer): Promise<boolean> {
    const { orgId, blobId, offsetBytes } = upload;
    // Named by its content: of two senders at one offset neither overwrites the other's part.
    const partName = `${offsetBytes}-${createHash('sha256').update(bytes).digest('hex')}`;
    try {
      await this.blobs.putPart({ orgId, blobId }, partName, bytes);
    } catch (error) {
      if (error instanceof BlobError) throw new ServiceError('unavailable', undefined, { cause: error });
      throw error;
    }
    const displayName = upload.displayName || displayNameFrom({ name: stem(upload.fileName) });
    return await this.uploads.receive({ upload, partName, partBytes: bytes.length, displayName, doer });
  }
}

/** Returns the part of the chunk that is not stored yet. */
function missingBytes(upload: Upload, at: number, chunk: Uint8Array): Uint8Array {
  const { offsetBytes, sizeBytes } = upload;
  if (!Number.isSafeInteger(at) || at < 0 || at > offsetBytes) {
    throw new ServiceError('invalid_request', 'The bytes do not begin where the stored ones end.', {
      findings: [{ path: '/offset', code: 'upload_offset', message: `${offsetBytes} bytes are stored.` }],
      facts: { offset: String(offsetBytes) },
    });
  }
  if (at + chunk.length > sizeBytes) {
    throw tooLarge(
      'upload_size',
      'The recording is larger than was announced.',
      `It was announced with ${sizeBytes} bytes.`,
    );
  }
  if (upload.method === null && upload.expiresAt.getTime() <= Date.now()) {
    throw new ServiceError('unauthorized', 'The upload link has expired.');
  }
  return chunk.subarray(Math.min(offsetBytes - at, chunk.length));
}

function tooLarge(code: string, message: string, finding: string): ServiceError {
  return new ServiceError('too_large', message, { findings: [{ path: '', code, message: finding }] });
}

/** If the request has no actor, it is the upload itself: the holder of its token. */
function uploader(uploadId: UploadId): Doer {
  return { kind: 'upload', id: uploadId, ip: '', requestId: '' };
}

/** Returns a file's name without its ending, such as .har or .recording.json. */
function stem(fileName: string): string {
  return fileName.replace(/(?<=.)(?:\.(?:har|json|recording|recorder))+$/i, '');
}

/** An upload as a protobuf message. */
function uploadMessage(upload: Upload) {
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

@injectable()
class Uploads {
  constructor(@inject(UploadStore) private readonly uploads: UploadStore) {}

  /** A known key gets its upload with another link, even with other fields: the first link may have been lost. */
  async create(request: CreateUploadRequest) {
    const orgId = orgIdOf(request.orgId);
    const idempotencyHash = digestOf('idempotency_hash', request.idempotencyHash);
    const tokenSha256 = digestOf('token_sha256', request.tokenSha256);
    const doer = doerOf(request.doer);
    const known = await this.uploads.renewLink({ orgId, idempotencyHash, tokenSha256, doer });
    if (known !== null) return { upload: uploadMessage(known), created: false };
    const { upload, created } = await this.uploads.create({
      orgId,
      idempotencyHash,
      tokenSha256,
      displayName: boundedText('display_name', request.displayName, { min: 0, max: 200 }),
      fileName: boundedText('file_name', request.fileName, { min: 1, max: 255 }),
      contentType: boundedText('content_type', request.contentType, { min: 1, max: 255 }),
      sizeBytes: recordingBytes(request.sizeBytes),
      doer,
    });
    return { upload: uploadMessage(upload), created };
  }

  async get(request: GetUploadRequest) {
    return { upload: uploadMessage(await this.uploads.find(orgIdOf(request.orgId), uploadIdOf(request.uploadId))) };
  }

  /** @throws ServiceError unauthorized for unknown, replaced, expired and malformed alike. */
  async resolveToken({ tokenSha256 }: ResolveUploadTokenRequest) {
    const upload = tokenSha256.length === 32 ? await this.uploads.findByToken(tokenSha256) : null;
    if (upload === null) throw new ServiceError('unauthorized');
    return { upload: uploadMessage(upload) };
  }
}

function recordingBytes(size: number): number {
  if (size > RECORDING_BYTES_MAX) {
    throw new ServiceError('too_large', 'A recording holds at most 200 MiB.', {
      findings: [{ path: '/size', code: 'recording_bytes', message: 'It has more than 200 MiB.' }],
    });
  }
  if (Number.isSafeInteger(size) && size > 0) return size;
  throw new ServiceError('invalid_request', 'size is a whole number of bytes, at least 1.', {
    findings: [{ path: '/size', code: 'size', message: 'It is not.' }],
  });
}

/** The list of the RPCs of uploads, and the file that answers each. */
@injectable()
export class UploadRpcs {
  constructor(
    @inject(Uploads) private readonly uploads: Uploads,
    @inject(AppendUpload) private readonly appendUpload: AppendUpload,
  ) {}

  handlers(): ServiceImplementation<typeof UploadService> {
    return {
      createUpload: (request) => this.uploads.create(request),
      getUpload: (request) => this.uploads.get(request),
      resolveUploadToken: (request) => this.uploads.resolveToken(request),
      appendUpload: (request) => this.appendUpload.handle(request),
    };
  }
}
