// Reads the receipts of runs that were answered: the newest ones of each.
import type { OrgId, RunId } from '@methods/base/ids';
import { newestReceipts, RECEIPTS_MAX, type Receipt } from '../run/receipt.ts';
import { arrayLiteral } from './array-literal.ts';
import { stepsKey } from './step-rows.ts';

interface ReceiptRow {
  readonly run_id: RunId;
  readonly org_id: OrgId;
  readonly receipt_json: string;
}

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

/** By run, oldest first. */
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
