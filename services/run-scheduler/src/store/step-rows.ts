// Reads the records of steps and the receipts of answers from database rows. A run may have 30,000, so other work gets
// turns in between.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { OrgId, RunId } from '@methods/base/ids';
import { newestReceipts, RECEIPTS_MAX, type Receipt } from '../run/receipt.ts';
import type { StepSummary } from '../run/run.ts';
import { arrayLiteral } from './array-literal.ts';
import type { KeptStep } from './run-store.ts';

export interface StepRow {
  readonly run_id: RunId;
  readonly org_id: OrgId;
  readonly view_json: string;
}

/** Takes about 3 ms. */
const ROWS_A_TURN = 1_000;

/** Returns steps by run, in the order of the rows. */
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

/** A batch holds runs of many organizations, so both ids identify a step's run. */
export function stepsKey(row: { readonly run_id: RunId; readonly org_id: OrgId }): string {
  return `${row.org_id}/${row.run_id}`;
}

interface ReceiptRow {
  readonly run_id: RunId;
  readonly org_id: OrgId;
  readonly receipt_json: string;
}

/** Reads the receipts of runs that were answered: the newest ones of each. */
export const receiptsQuery = `select q.run_id, q.org_id, q.receipt_json from unnest($1::text[], $2::text[]) as k(run_id, org_id)
  cross join lateral (
    select run_id, org_id, question_id, receipt_json from scheduler.questions s
    where s.run_id = k.run_id and s.org_id = k.org_id and s.receipt_json is not null
    order by s.question_id desc limit ${RECEIPTS_MAX}) q
  order by q.run_id, q.question_id`;

/** The parameters of the query. */
export function keysOf(rows: readonly { readonly run_id: RunId; readonly org_id: OrgId }[]): string[] {
  return [arrayLiteral(rows.map((row) => row.run_id)), arrayLiteral(rows.map((row) => row.org_id))];
}

/** Returns receipts by run, oldest first. */
export function receiptsOfRuns(rows: readonly ReceiptRow[]): Map<string, readonly Receipt[]> {
  const receipts = new Map<string, Receipt[]>();
  for (const row of rows) {
    const receipt = JSON.parse(row.receipt_json) as Receipt;
    const list = receipts.get(stepsKey(row));
    if (list === undefined) receipts.set(stepsKey(row), [receipt]);
    else list.push(receipt);
  }
  return new Map([...receipts].map(([run, list]) => [run, newestReceipts(list)]));
}

/** Approximate size of a statement's rows. A single row may exceed it, and is then omitted. */
const BYTES_MAX = 4 << 20;
/** The size of a row besides its texts. */
const ROW_BYTES = 256;

/** Reads the kept steps of many runs in one statement: as many as fit, in the order of the runs' ids. */
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
  // A run without rows may follow the first run that does not fit.
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
