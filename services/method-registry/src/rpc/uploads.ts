// CreateUpload, GetUpload and ResolveUploadToken: the link to which a recording is sent; and the list of the RPCs of
// uploads.
import { ServiceError } from '@methods/errors/service-error';
import type {
  CreateUploadRequest,
  GetUploadRequest,
  ResolveUploadTokenRequest,
  UploadService,
} from '@methods/proto/registry/v1/upload_service_pb';
import type { ServiceImplementation } from '@methods/rpc/service-definition';
import { inject, injectable } from 'tsyringe';
import { UploadStore } from '../store/upload-store.ts';
import { boundedText } from '../text/bounded-text.ts';
import { RECORDING_BYTES_MAX } from '../upload/upload.ts';
import { AppendUpload, uploadMessage } from './append-upload.ts';
import { digestOf, doerOf, orgIdOf, uploadIdOf } from './request-fields.ts';

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
