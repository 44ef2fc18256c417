// Counts the rows of tables that a statement reads, by the server's count. The statement is executed.
import type { Sql, TransactionSql } from '@methods/postgres/pool';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

export async function rowsRead(sql: Sql | TransactionSql, statement: unknown): Promise<number> {
  const [row] = await sql<{ 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }[]>`
    explain (analyze, format json, timing off) ${statement as string}`;
  const [explained] = row?.['QUERY PLAN'] ?? [];
  if (explained === undefined) throw new Error('the statement has no plan');
  return rowsOf(explained.Plan);
}

function rowsOf(node: PlanNode): number {
  const below = (node.Plans ?? []).reduce((sum, each) => sum + rowsOf(each), 0);
  if (node['Relation Name'] === undefined || !node['Node Type'].includes('Scan')) return below;
  return below + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
}
