// The list of the RPCs of uploads, and which file answers each.
import type { UploadService } from '@methods/proto/registry/v1/upload_service_pb';
import type { ServiceImplementation } from '@methods/rpc/service-definition';
import { inject, injectable } from 'tsyringe';
import { AppendUpload } from './append-upload.ts';
import { Uploads } from './uploads.ts';

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
