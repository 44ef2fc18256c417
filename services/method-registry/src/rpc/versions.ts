// The RPCs of versions: their exact bytes, what saving would find, and their locks.
import { isId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type {
  GetVersionRequest,
  ListVersionsRequest,
  PutLockRequest,
  SaveVersionRequest,
  ValidateSourceRequest,
} from '@methods/proto/registry/v1/method_registry_service_pb';
import type { CallContext } from '@methods/rpc/call-handler';
import { inject, injectable } from 'tsyringe';
import { pageRequest } from '../page/page.ts';
import { type VersionChoice, VersionStore } from '../store/version-store.ts';
import { boundedText } from '../text/bounded-text.ts';
import { CalledMethods } from './called-methods.ts';
import { methodMessage, versionMessage } from './registry-message.ts';
import { doerOf, methodIdOf, orgIdOf, versionIdOf } from './request-fields.ts';

const LOCK_BYTES_MAX = 1024 * 1024;

@injectable()
export class Versions {
  constructor(
    @inject(VersionStore) private readonly versions: VersionStore,
    @inject(CalledMethods) private readonly called: CalledMethods,
  ) {}

  /** Without their bytes, newest first. */
  async list(request: ListVersionsRequest) {
    const orgId = orgIdOf(request.orgId);
    const methodId = methodIdOf(request.methodId);
    const page = pageRequest(request, (id) => isId('ver', id));
    const { items, nextCursor } = await this.versions.list(orgId, methodId, page);
    return { versions: items.map(versionMessage), nextCursor };
  }

  /** Returns a version with its exact bytes and its lock, by id, "published", or the current one. */
  async get(request: GetVersionRequest) {
    const orgId = orgIdOf(request.orgId);
    const methodId = methodIdOf(request.methodId);
    const { method, version, source, lock } = await this.versions.find(orgId, methodId, choiceOf(request.version));
    return {
      method: methodMessage(method),
      version: { ...versionMessage(version), source, ...(lock === null ? {} : { lock }) },
    };
  }

  /** Saves a new version on the current one. */
  async save(request: SaveVersionRequest, { signal }: Pick<CallContext, 'signal'>) {
    const orgId = orgIdOf(request.orgId);
    const methodId = methodIdOf(request.methodId);
    const reason = boundedText('reason', request.reason, { min: 0, max: 2_000 });
    const doer = doerOf(request.doer);
    const source = await this.called.judged(request.source, methodId, { orgId, signal });
    // Not checked as an id: any base except the current version is a conflict. Empty: the method has none yet.
    const baseVersion = request.baseVersion === '' ? null : request.baseVersion;
    const { version, created } = await this.versions.save({ orgId, methodId, baseVersion, source, reason, doer });
    return {
      version: versionMessage(version),
      created,
      warnings: source.warnings.map((warning) => ({ ...warning })),
    };
  }

  /** Returns what saving a source would find. Saves nothing. */
  async validate(request: ValidateSourceRequest, { signal }: Pick<CallContext, 'signal'>) {
    const orgId = orgIdOf(request.orgId);
    const { verdict } = await this.called.judge(request.source, null, { orgId, signal });
    const { findings } = verdict;
    return {
      ok: findings.every(({ severity }) => severity !== 'error'),
      findings: findings.map((finding) => ({ ...finding })),
    };
  }

  /**
   * Stores the exact dependencies of a version, as the first worker resolved them, without parsing them. `stored:
   * false` with another digest: that lock was first and must be used.
   */
  async putLock({ orgId, methodId, versionId, lock }: PutLockRequest) {
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

function choiceOf(text: string): VersionChoice {
  if (text === '') return { kind: 'current' };
  if (text === 'published') return { kind: 'published' };
  return { kind: 'saved', versionId: versionIdOf(text) };
}
