// Bounds the size of requests that carry written or recorded content; every other one fits into 64 KiB. Each bound
// exceeds that of its content, so that the refusal can name the content that is too large.
import type { AccountService } from '@methods/proto/registry/v1/account_service_pb';
import type { MethodRegistryService } from '@methods/proto/registry/v1/method_registry_service_pb';
import type { RunRecordService } from '@methods/proto/registry/v1/run_record_service_pb';
import type { UploadService } from '@methods/proto/registry/v1/upload_service_pb';
import type { RequestSizes } from '@methods/rpc/server';

const MIB = 1024 * 1024;

export const methodRequestSizes: RequestSizes<typeof MethodRegistryService> = {
  // The gateway accepts bodies of up to 1 MiB.
  createMethod: 2 * MIB,
  saveVersion: 2 * MIB,
  validateSource: 2 * MIB,
  updateMethod: 2 * MIB,
  putLock: 2 * MIB,
  // A thousand keys.
  noteKeyUse: MIB / 4,
};

export const accountRequestSizes: RequestSizes<typeof AccountService> = {
  // 256 lines with before and after.
  recordAudit: 4 * MIB,
};

export const uploadRequestSizes: RequestSizes<typeof UploadService> = {
  appendUpload: 2 * MIB,
};

export const runRecordRequestSizes: RequestSizes<typeof RunRecordService> = {
  putRunRecord: 4 * MIB,
};
