// Prepares a version to run here: checks and compiles its source and installs its dependencies from its lock. Creates
// the lock of a version that has none, unless another worker stored one first.
import { createHash } from 'node:crypto';
import type { ProductionId, VersionId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { PreparedDependencies } from '@methods/executor/dependencies/prepare-dependencies';
import type { PreparedEnvironment } from '@methods/executor/prepared-environment';
import { compileMethod } from '@methods/method/compile';
import type { CompiledMethod } from '@methods/method/compiled-method';
import type { GetVersionResponse, PutLockResponse } from '@methods/proto/worker/v1/worker_service_pb';

/** A version ready to run here. */
export interface WorkerVersion {
  readonly versionId: VersionId;
  readonly method: CompiledMethod;
  /** Versions bound to its calls that name no version, by production id. */
  readonly calls: Readonly<Record<ProductionId, VersionId>>;
  readonly environment: PreparedEnvironment;
}

export interface VersionServer {
  getVersion(request: { method: ProductionId; versionId: VersionId | 'published' }): Promise<GetVersionResponse>;
  /** Write-once: `stored` is false when another lock was stored first. */
  putLock(request: { method: ProductionId; versionId: VersionId; lock: Uint8Array }): Promise<PutLockResponse>;
}

export type PrepareDependencies = (
  method: CompiledMethod,
  lock: Uint8Array | undefined,
) => Promise<PreparedDependencies>;

/**
 * @throws ServiceError: `unavailable` may be tried again. @throws StepFailure of kind dependency: this worker cannot
 * run the version, or not now.
 */
export async function prepareVersion(
  version: GetVersionResponse,
  server: VersionServer,
  prepare: PrepareDependencies,
): Promise<WorkerVersion> {
  const { method: methodId, versionId, calls } = version;
  const method = compiled(version);
  const given = lockOf(version);
  const { lock, environment } = await prepare(method, given);
  if (given !== undefined || lock === null) return { versionId, method, calls, environment };
  const { stored, lockSha256 } = await server.putLock({ method: methodId, versionId, lock });
  if (stored || lockSha256 === sha256Of(lock)) return { versionId, method, calls, environment };
  const first = lockOf(await server.getVersion({ method: methodId, versionId }));
  if (first === undefined) throw new ServiceError('internal', 'The lock file of the version is missing.');
  return { versionId, method, calls, environment: (await prepare(method, first)).environment };
}

function compiled(version: GetVersionResponse): CompiledMethod {
  if (sha256Of(version.source) !== version.sha256) {
    throw new ServiceError('internal', 'The source does not match its hash.');
  }
  const { method, diagnostics } = compileMethod(version.source, { saved: true });
  if (method !== null) return method;
  const first = diagnostics.find((diagnostic) => diagnostic.severity === 'error');
  throw new ServiceError('invalid_method', `This worker cannot run the version: ${first?.code ?? 'invalid'}.`);
}

/** Undefined: the version has no lock yet. */
function lockOf({ lock, lockSha256 }: GetVersionResponse): Uint8Array | undefined {
  if (lock.length === 0) return undefined;
  if (sha256Of(lock) !== lockSha256) throw new ServiceError('internal', 'The lock does not match its hash.');
  return lock;
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
