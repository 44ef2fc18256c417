// Follows a run's walk and has its record sent as it grows, beside showing it.
import type { LocalVersionId, VersionId } from '@methods/base/ids';
import { inspectionOf } from '@methods/executor/inspection';
import type { StepEnd } from '@methods/executor/run-outcome';
import type { StepKind } from '@methods/method/compiled-method';
import type { JsonObject } from '@methods/method/json';
import { LOCAL_WORKER } from '../local-run/local-inspection.ts';
import type { WalkView } from '../local-run/local-walk.ts';
import type { LocalRunRecord } from '../local-run/run-record.ts';
import type { RunUpload } from './run-upload.ts';

export interface UploadedRun {
  readonly record: LocalRunRecord;
  /** Of the server. */
  readonly versionId: VersionId | LocalVersionId;
  readonly attempt: number;
  readonly lockSha256: string | null;
  /** Of earlier attempts. */
  readonly records: readonly StepEnd[];
}

/** `view`, with every start and end of a step passed to `upload` as well. */
export function uploadingView(view: WalkView, upload: RunUpload, run: UploadedRun): WalkView {
  const records = [...run.records];
  const open = new Map<string, { readonly kind: StepKind; readonly startedAtMs: number }>();
  const changed = () => upload.changed(() => runningInspection(run, records, open));
  changed();
  return {
    stepStarted(path, kind, tryNumber) {
      open.set(path, { kind, startedAtMs: Date.now() });
      changed();
      view.stepStarted?.(path, kind, tryNumber);
    },
    stepEnded(record) {
      open.delete(record.path);
      records.push(record);
      changed();
      view.stepEnded?.(record);
    },
    stepRetrying: (...told) => view.stepRetrying?.(...told),
    stepKept: (path) => view.stepKept?.(path),
    logged: (...told) => view.logged?.(...told),
    told: (...told) => view.told?.(...told),
    note: (text) => view.note(text),
    rest: () => view.rest(),
  };
}

function runningInspection(
  { record, versionId, attempt, lockSha256 }: UploadedRun,
  records: readonly StepEnd[],
  open: ReadonlyMap<string, { readonly kind: StepKind; readonly startedAtMs: number }>,
): JsonObject {
  return inspectionOf({
    ...{ runId: record.run_id, versionId, sha256: record.sha256, lockSha256, attempt },
    status: 'running',
    startedAtMs: Date.parse(record.started_at),
    endedAtMs: null,
    worker: LOCAL_WORKER,
    records,
    open: Array.from(open, ([path, step]) => ({ path, status: 'running' as const, ...step })),
    ...{ question: null, result: null, error: null },
  });
}
