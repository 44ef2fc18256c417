// The versions this worker runs: fetched once, checked against their hash, compiled once. Bounded; the least recently
// used go first.
import { createHash } from 'node:crypto';
import { ServiceError } from '@methods/errors/service-error';
import { compileMethod } from '@methods/method/compile';
import type { CompiledMethod } from '@methods/method/compiled-method';
import type { GetVersionResponse } from '@methods/proto/worker/v1/worker_service_pb';

const VERSIONS_MAX = 500;

export class VersionCache {
  private readonly versions = new Map<string, Promise<CompiledMethod>>();

  constructor(private readonly fetchVersion: (method: string, versionId: string) => Promise<GetVersionResponse>) {}

  /** @throws ServiceError: `unavailable` may be tried again. */
  get(method: string, versionId: string): Promise<CompiledMethod> {
    const key = `${method}/${versionId}`;
    const known = this.versions.get(key);
    if (known !== undefined) {
      this.versions.delete(key);
      this.versions.set(key, known);
      return known;
    }
    const prepared = this.prepare(method, versionId);
    this.versions.set(key, prepared);
    // A failure is not kept: the next run asks again.
    prepared.catch(() => this.versions.delete(key));
    if (this.versions.size > VERSIONS_MAX) this.versions.delete(this.versions.keys().next().value ?? '');
    return prepared;
  }

  private async prepare(method: string, versionId: string): Promise<CompiledMethod> {
    const version = await this.fetchVersion(method, versionId);
    const sha256 = createHash('sha256').update(version.source).digest('hex');
    if (sha256 !== version.sha256) throw new ServiceError('internal', 'The source does not match its hash.');
    const { method: compiled, diagnostics } = compileMethod(version.source);
    if (compiled === null) {
      const first = diagnostics.find((diagnostic) => diagnostic.severity === 'error');
      throw new ServiceError('invalid_method', `This worker cannot run the version: ${first?.code ?? 'invalid'}.`);
    }
    return compiled;
  }
}
