// The versions that calls run: the one a call names, the one it was bound to when its caller was saved, or the one
// published now.
import type { Callee } from '@methods/executor/run-options';
import { StepFailure } from '@methods/executor/step-failure';
import type { VersionCache } from './version-cache.ts';
import type { WorkerVersion } from './version-preparation.ts';

/** `had` fetches patiently; what it throws fails the call, unless the run is no longer ours. */
export function calleeOf(
  caller: WorkerVersion,
  versions: VersionCache,
  had: (fetch: () => Promise<WorkerVersion>) => Promise<WorkerVersion>,
): Callee {
  return async (target) => {
    if (target.kind === 'file') throw new StepFailure('call', 'A file can be called in local runs only');
    const { method, version } = target;
    const versionId = version === 'pinned' ? caller.calls[method] : version === 'published' ? null : version.id;
    if (versionId === undefined) throw new StepFailure('call', 'The call is bound to no version');
    const called = await had(() => (versionId === null ? versions.published(method) : versions.get(method, versionId)));
    const { method: compiled, versionId: id, environment } = called;
    return { method: compiled, versionId: id, environment, callee: calleeOf(called, versions, had) };
  };
}
