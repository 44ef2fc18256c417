// Caches the versions this worker runs: each is fetched and prepared once for all its runs. Bounded; evicts the least
// recently used.
import type { Clock } from '@methods/base/clock';
import type { ProductionId, VersionId } from '@methods/base/ids';
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
