// Counts the table rows and blocks that a statement's plan really read. The counts decide how long a statement takes,
// and are the same on every machine.
import type { TransactionSql } from '@methods/postgres/pool';

export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
}

export interface RowCounts {
  /** Table rows read, including those that a filter discarded. */
  readonly read: number;
  /** Rows returned, written, or given as parameters. */
  readonly given: number;
  readonly blocks: number;
}

export function countRows(plan: PlanNode): RowCounts {
  let read = 0;
  let given = rowsOf(plan);
  const visit = (node: PlanNode): void => {
    const type = node['Node Type'];
    const loops = node['Actual Loops'] ?? 0;
    const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
    if (node['Relation Name'] !== undefined && type.endsWith('Scan')) read += rowsOf(node) + removed * loops;
    if (type === 'ModifyTable') for (const child of node.Plans ?? []) given += rowsOf(child);
    if (type === 'Function Scan' || type === 'LockRows') given += rowsOf(node);
    for (const child of node.Plans ?? []) visit(child);
  };
  visit(plan);
  return { read, given, blocks: (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0) };
}

export function rowsOf(node: PlanNode): number {
  return (node['Actual Rows'] ?? 0) * (node['Actual Loops'] ?? 0);
}

/** A transaction that explains each `select` before it runs it, and adds its reads to `counts`. */
export function explaining(sql: TransactionSql, counts: RowCounts[]): TransactionSql {
  const explained = async (texts: TemplateStringsArray, values: readonly never[]) => {
    const [row] = await sql<{ 'QUERY PLAN': { Plan: PlanNode }[] }[]>`
      explain (analyze, buffers, timing off, format json) ${sql(texts, ...values)}`;
    counts.push(countRows(row?.['QUERY PLAN'][0]?.Plan as PlanNode));
    return await sql(texts, ...values);
  };
  return new Proxy(sql, {
    apply(_, __, [texts, ...values]: [TemplateStringsArray, ...never[]]) {
      const isSelect = 'raw' in texts && /^\s*(select|with)\b/.test(texts[0] as string);
      return isSelect ? explained(texts, values) : sql(texts, ...values);
    },
  });
}
