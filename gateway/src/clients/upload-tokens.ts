// Looks up whose upload a token opens. Nothing is cached: a token is shown once for many bytes, and a replaced one must
// end at once.
import type { OrgId, UploadId } from '@methods/base/ids';
import type { Stoppable } from '@methods/base/stoppable';
import { ServiceError } from '@methods/errors/service-error';
import { UploadService } from '@methods/proto/registry/v1/upload_service_pb';
import { type Client, rpcClient } from '@methods/rpc/client';

export interface OpenedUpload {
  readonly orgId: OrgId;
  /** upl_... */
  readonly uploadId: UploadId;
}

const CALL_MS = 3_000;

export class UploadTokens implements Stoppable {
  private readonly client: Client<typeof UploadService>;

  /** `host:port` of the method registry. */
  constructor(address: string) {
    this.client = rpcClient(UploadService, address);
  }

  /** Null: unknown, replaced or expired. */
  async uploadOf(tokenSha256: Buffer): Promise<OpenedUpload | null> {
    try {
      const { upload } = await this.client.resolveUploadToken({ tokenSha256 }, { timeoutMs: CALL_MS });
      return upload ? { orgId: upload.orgId, uploadId: upload.uploadId } : null;
    } catch (error) {
      if (error instanceof ServiceError && (error.code === 'unauthorized' || error.code === 'not_found')) return null;
      throw error;
    }
  }

  stop(): void {
    this.client.close();
  }
}
