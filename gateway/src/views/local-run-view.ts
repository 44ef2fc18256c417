// The record of a run on a person's own computer, as JSON that differs from a production run's.
import { productionMethodId } from '@methods/base/ids';
import type { RunRecord } from '@methods/proto/registry/v1/run_record_service_pb';
import { partyView, timeView } from './party-view.ts';

/** In a list: without the inspection. */
export function localRunView(record: RunRecord) {
  return {
    run_id: record.runId,
    kind: 'local',
    method: productionMethodId(record.methodId),
    version_id: record.versionId,
    status: record.status || null,
    sequence: record.sequence,
    created_at: timeView(record.createdAtMs),
    updated_at: timeView(record.updatedAtMs),
    created_by: partyView(record.createdBy),
  };
}

/** With its inspection, which was stored as JSON and passes through unread. */
export function localRunJson(record: RunRecord): string {
  const head = JSON.stringify(localRunView(record));
  return `${head.slice(0, -1)},"inspection":${record.inspectionJson || 'null'}}`;
}
