// Reads the records of steps from the rows of the database. A run may have 30,000, so other work has its turn in
// between.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { OrgId, RunId } from '@methods/base/ids';
import type { StepSummary } from '../run/run.ts';

export interface StepRow {
  readonly run_id: RunId;
  readonly org_id: OrgId;
  readonly view_json: string;
}

/** Takes about 3 ms. */
const ROWS_A_TURN = 1_000;

/** By run, in the order of the rows. */
export async function stepsOfRuns(rows: readonly StepRow[]): Promise<Map<string, StepSummary[]>> {
  const steps = new Map<string, StepSummary[]>();
  for (const [n, row] of rows.entries()) {
    if (n > 0 && n % ROWS_A_TURN === 0) await nextTurn();
    const step = JSON.parse(row.view_json) as StepSummary;
    const list = steps.get(stepsKey(row));
    if (list === undefined) steps.set(stepsKey(row), [step]);
    else list.push(step);
  }
  return steps;
}

/** A batch holds runs of many organizations: a step belongs to a run by both ids. */
export function stepsKey(row: { readonly run_id: RunId; readonly org_id: OrgId }): string {
  return `${row.org_id}/${row.run_id}`;
}
