// Reads the kept steps of many runs in one statement: as many as fit, in the order of the runs' ids.
import type { OrgId, RunId } from '@methods/base/ids';
import type { KeptStep } from './run-store.ts';

/** Approximate size of a statement's rows. One row may exceed it, and is left out. */
const BYTES_MAX = 4 << 20;
/** The size of a row beside its texts. */
const ROW_BYTES = 256;

export interface KeptStepRow {
  readonly run_id: RunId;
  readonly org_id: OrgId;
  readonly path: string;
  readonly status: string;
  readonly out_json: string | null;
  readonly out_withheld: boolean;
  /** False: this row and all that follow it do not fit. */
  readonly fits: boolean;
}

// The size of an out is known without reading it, so a row that does not fit costs only its place in the order.
export const keptStepsQuery = `select run_id, org_id, path, status, out_withheld, upto <= ${BYTES_MAX} as fits,
    case when upto <= ${BYTES_MAX} then out_json end as out_json
  from (
    select run_id, org_id, path, seq, status, out_json, out_withheld, bytes, sum(bytes) over (order by run_id, seq) as upto
    from (
      select s.*, octet_length(coalesce(out_json, '')) + octet_length(path) + ${ROW_BYTES} as bytes
      from scheduler.steps s where run_id = any($1::text[])) sized) summed
  where upto - bytes <= ${BYTES_MAX} order by run_id, seq`;

/** By run id. A run that does not fit is missing. */
export function keptStepsOfRuns(
  runs: readonly { readonly orgId: OrgId; readonly runId: RunId }[],
  rows: readonly KeptStepRow[],
): Map<RunId, KeptStep[]> {
  const overflow = rows.find((row) => !row.fits);
  const orgs = new Map(runs.map(({ orgId, runId }) => [runId, orgId]));
  // A run without a row may come after the first one that does not fit.
  const kept = new Map<RunId, KeptStep[]>(overflow === undefined ? runs.map(({ runId }) => [runId, []]) : []);
  for (const row of rows) {
    if (row.run_id === overflow?.run_id) break;
    if (orgs.get(row.run_id) !== row.org_id) continue;
    const { path, status, out_json: outJson, out_withheld: outWithheld } = row;
    const step = { path, status, outJson, outWithheld };
    const steps = kept.get(row.run_id);
    if (steps === undefined) kept.set(row.run_id, [step]);
    else steps.push(step);
  }
  return kept;
}
