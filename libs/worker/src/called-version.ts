// Resolves the versions that calls run: the version a call names, the version bound when its caller was saved, or the
// version published now.
import type { Callee } from '@methods/executor/run-options';
import { StepFailure } from '@methods/executor/step-failure';
import type { VersionCache } from './version-cache.ts';
import type { WorkerVersion } from './version-preparation.ts';

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
