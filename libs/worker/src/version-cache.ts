// Caches the versions this worker runs and resolves those that calls run: each is fetched and prepared once for all its
// runs. Bounded; evicts the least recently used.
import type { Clock } from '@methods/base/clock';
import type { ProductionId, VersionId } from '@methods/base/ids';
import type { Callee } from '@methods/executor/run-options';
import { StepFailure } from '@methods/executor/step-failure';
import type { GetVersionResponse } from '@methods/proto/worker/v1/worker_service_pb';
import {
  type PrepareDependencies,
  prepareVersion,
  type VersionServer,
  type WorkerVersion,
} from './version-preparation.ts';

const VERSIONS_MAX = 500;
/** Environments that no worker prepares for weeks are removed from disk, so one in use is prepared again each day. */
const PREPARED_MS_MAX = 24 * 3_600_000;

interface KnownVersion {
  readonly prepared: Promise<WorkerVersion>;
  readonly sinceMs: number;
}

export class VersionCache {
  private readonly versions = new Map<string, KnownVersion>();

  constructor(
    private readonly server: VersionServer,
    private readonly prepare: PrepareDependencies,
    private readonly clock: Clock,
  ) {}

  /** Rejects as `prepareVersion` does. */
  get(method: ProductionId, versionId: VersionId): Promise<WorkerVersion> {
    const key = `${method}/${versionId}`;
    return this.known(key) ?? this.keep(key, this.server.getVersion({ method, versionId }));
  }

  /** Returns the version published now, asking the server each time. Rejects as `prepareVersion` does. */
  async published(method: ProductionId): Promise<WorkerVersion> {
    const version = await this.server.getVersion({ method, versionId: 'published' });
    const key = `${method}/${version.versionId}`;
    return this.known(key) ?? this.keep(key, Promise.resolve(version));
  }

  private known(key: string): Promise<WorkerVersion> | undefined {
    const known = this.versions.get(key);
    this.versions.delete(key);
    if (known === undefined || this.clock.monotonicMs() - known.sinceMs > PREPARED_MS_MAX) return undefined;
    this.versions.set(key, known);
    return known.prepared;
  }

  private keep(key: string, fetched: Promise<GetVersionResponse>): Promise<WorkerVersion> {
    const prepared = fetched.then((version) => prepareVersion(version, this.server, this.prepare));
    const known = { prepared, sinceMs: this.clock.monotonicMs() };
    this.versions.set(key, known);
    // A failure is not cached: the next run tries again.
    prepared.catch(() => {
      if (this.versions.get(key) === known) this.versions.delete(key);
    });
    if (this.versions.size > VERSIONS_MAX) this.versions.delete(this.versions.keys().next().value ?? '');
    return prepared;
  }
}

// Resolves the versions that calls run: the version a call names, the version bound when its caller was saved, or the
// version published now.

/**
 * `had` retries while the server is unavailable. An error it throws fails the call, unless the run was taken from this
 * worker.
 */
export function calleeOf(
  caller: WorkerVersion,
  versions: VersionCache,
  had: (fetch: () => Promise<WorkerVersion>) => Promise<WorkerVersion>,
): Callee {
  return async (target) => {
    if (target.kind === 'file') throw new StepFailure('call', 'Calls of files work only in local runs');
    const { method, version } = target;
    const versionId = version === 'pinned' ? caller.calls[method] : version === 'published' ? null : version.id;
    if (versionId === undefined) throw new StepFailure('call', 'The call has no bound version');
    const called = await had(() => (versionId === null ? versions.published(method) : versions.get(method, versionId)));
    const { method: compiled, versionId: id, environment } = called;
    return { method: compiled, versionId: id, environment, callee: calleeOf(called, versions, had) };
  };
}
