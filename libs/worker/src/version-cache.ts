// The versions this worker runs: fetched once, checked against their hash, compiled once. Bounded; the least recently
// used go first.
import { createHash } from 'node:crypto';
import { ServiceError } from '@methods/errors/service-error';
import { compileMethod } from '@methods/method/compile';
import type { CompiledMethod } from '@methods/method/compiled-method';
import type { GetVersionResponse } from '@methods/proto/worker/v1/worker_service_pb';

const VERSIONS_MAX = 500;

/** A version ready to run here. */
export interface WorkerVersion {
  readonly versionId: string;
  readonly method: CompiledMethod;
  /** Versions that its calls without one are bound to, by production id. */
  readonly calls: Readonly<Record<string, string>>;
}

type FetchVersion = (method: string, versionId: string) => Promise<GetVersionResponse>;

export class VersionCache {
  private readonly versions = new Map<string, Promise<WorkerVersion>>();

  constructor(private readonly fetchVersion: FetchVersion) {}

  /** @throws ServiceError: `unavailable` may be tried again. */
  get(method: string, versionId: string): Promise<WorkerVersion> {
    const key = `${method}/${versionId}`;
    const known = this.versions.get(key);
    if (known === undefined) return this.keep(key, this.fetchVersion(method, versionId).then(prepare));
    this.versions.delete(key);
    this.versions.set(key, known);
    return known;
  }

  /** The version published now, which is asked for each time. @throws ServiceError as `get` does. */
  async published(method: string): Promise<WorkerVersion> {
    const version = await this.fetchVersion(method, 'published');
    const key = `${method}/${version.versionId}`;
    return this.versions.get(key) ?? this.keep(key, Promise.resolve(version).then(prepare));
  }

  private keep(key: string, prepared: Promise<WorkerVersion>): Promise<WorkerVersion> {
    this.versions.set(key, prepared);
    // A failure is not kept: the next run asks again.
    prepared.catch(() => {
      if (this.versions.get(key) === prepared) this.versions.delete(key);
    });
    if (this.versions.size > VERSIONS_MAX) this.versions.delete(this.versions.keys().next().value ?? '');
    return prepared;
  }
}

function prepare(version: GetVersionResponse): WorkerVersion {
  const sha256 = createHash('sha256').update(version.source).digest('hex');
  if (sha256 !== version.sha256) throw new ServiceError('internal', 'The source does not match its hash.');
  const { method, diagnostics } = compileMethod(version.source);
  if (method === null) {
    const first = diagnostics.find((diagnostic) => diagnostic.severity === 'error');
    throw new ServiceError('invalid_method', `This worker cannot run the version: ${first?.code ?? 'invalid'}.`);
  }
  return { versionId: version.versionId, method, calls: version.calls };
}
