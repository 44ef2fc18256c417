// The filter of lists, counts and bulk changes of runs: one condition for all of them. No index serves it, so a statement
// applies it to a bounded number of runs.
import type { ProductionId, VersionId } from '@methods/base/ids';
import type { TransactionSql } from '@methods/postgres/pool';
import type { Run } from '../run/run.ts';

export interface RunFilter {
  /** Any of these; empty: all. */
  readonly statuses: readonly Run['status'][];
  /** wf_...; empty: all. */
  readonly method: ProductionId | '';
  readonly versionId: VersionId | '';
  /** key_... or usr_...; empty: any. */
  readonly startedBy: string;
  /** All of these pairs. */
  readonly metadata: Readonly<Record<string, string>>;
  /** In the id, the metadata or the error; empty: any. */
  readonly text: string;
}

export const ANY_RUN: RunFilter = { statuses: [], method: '', versionId: '', startedBy: '', metadata: {}, text: '' };

export function isFilter({ statuses, method, versionId, startedBy, metadata, text }: RunFilter): boolean {
  const named = [method, versionId, startedBy, text].some((value) => value !== '');
  return named || statuses.length > 0 || Object.keys(metadata).length > 0;
}

/** Returns the condition, which begins with `and`; nothing for a filter that every run matches. */
export function filterSql(sql: TransactionSql, filter: RunFilter) {
  const { statuses, method, versionId, startedBy, metadata, text } = filter;
  const isPerson = startedBy.startsWith('usr_');
  return sql`
    ${statuses.length === 0 ? sql`` : sql`and status = any(${[...statuses]}::text[])`}
    ${method === '' ? sql`` : sql`and method = ${method}`}
    ${versionId === '' ? sql`` : sql`and version_id = ${versionId}`}
    ${startedBy === '' || isPerson ? sql`` : sql`and key_id = ${startedBy}`}
    ${isPerson ? sql`and starter_json::jsonb->>'personId' = ${startedBy}` : sql``}
    ${Object.keys(metadata).length === 0 ? sql`` : sql`and metadata_json::jsonb @> ${JSON.stringify(metadata)}::text::jsonb`}
    ${text === '' ? sql`` : textSql(sql, text)}`;
}

/** The texts are stored as JSON, which writes some characters in another way. */
function textSql(sql: TransactionSql, text: string) {
  const asJson = JSON.stringify(text).slice(1, -1);
  return sql`and (strpos(run_id, lower(${text})) > 0 or strpos(lower(metadata_json), lower(${asJson})) > 0
    or strpos(lower(error_json), lower(${asJson})) > 0)`;
}
