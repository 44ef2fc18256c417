// PutLock: the exact dependencies of a version, as the first worker resolved them. They are kept unread.
import { ServiceError } from '@methods/errors/service-error';
import type { PutLockRequest } from '@methods/proto/registry/v1/method_registry_service_pb';
import { inject, injectable } from 'tsyringe';
import { VersionStore } from '../store/version-store.ts';
import { methodIdOf, orgIdOf, versionIdOf } from './request-ids.ts';

const LOCK_BYTES_MAX = 1024 * 1024;

@injectable()
export class PutLock {
  constructor(@inject(VersionStore) private readonly versions: VersionStore) {}

  /** `stored: false` with another digest: that lock was first and is the one to use. */
  async handle({ orgId, methodId, versionId, lock }: PutLockRequest) {
    if (lock.length === 0) throw new ServiceError('invalid_request', 'The lock is empty.');
    if (lock.length > LOCK_BYTES_MAX) {
      throw new ServiceError('too_large', 'A lock holds at most 1 MiB.', {
        findings: [{ path: '/lock', code: 'lock_bytes', message: `It has ${lock.length} bytes.` }],
      });
    }
    return await this.versions.putLock({
      orgId: orgIdOf(orgId),
      methodId: methodIdOf(methodId),
      versionId: versionIdOf(versionId),
      lock,
    });
  }
}
