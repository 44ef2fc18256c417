// Pages of an organization's runs, newest first, without steps, content and the columns that only the owner needs. One
// index serves every list: a filter reads a bounded number of runs and the cursor moves past them, so a rare status
// costs many short pages, never one slow query.
import type { OrgId, RunId } from '@methods/base/ids';
import { withDeadline } from '@methods/postgres/deadline';
import type { OrganizationReader } from '@methods/postgres/organization-reader';
import type { TransactionSql } from '@methods/postgres/pool';
import type { Run, RunEnding, RunError } from '../run/run.ts';
import { type ListedFacts, type ListedRunRow, listedFactsFrom, selected } from './run-columns.ts';
import { filterSql, isFilter, type RunFilter } from './run-filter.ts';

/** A run's position in the list. */
export interface RunPlace {
  readonly createdAtMs: number;
  readonly runId: RunId;
}

/** By creation. */
export interface RunRange {
  readonly orgId: OrgId;
  /** Only runs after this position; null: begins with the newest. */
  readonly after: RunPlace | null;
  /** Created after, or before, these times; null: any time. */
  readonly createdAfterMs: number | null;
  readonly createdBeforeMs: number | null;
  /** Only runs that repeat this one; absent or empty: all. An index serves it, also with a filter. */
  readonly rerunOf?: RunId | '';
}

export interface RunSelection extends RunRange, RunFilter {
  readonly limit: number;
}

export interface RunPage {
  readonly runs: readonly ListedRun[];
  /** Where the next page begins; null at the end. */
  readonly next: RunPlace | null;
  /** The page has looked at runs created at or after this time; null: it ended for another reason. */
  readonly searchedToMs: number | null;
}

interface PlaceRow {
  readonly run_id: RunId;
  readonly created_at_ms: number;
}

interface RunListsOptions {
  readonly reader: OrganizationReader;
  readonly deadlineMs: number;
  /** Runs that a page with a filter reads. */
  readonly lookedAtMax?: number;
}

const LOOKED_AT_MAX = 5_000;
/** A page is sent in one message of at most 4 MiB; only metadata in it may be large. */
const METADATA_BYTES_MAX = 2 * 1024 * 1024;

export class RunLists {
  constructor(private readonly options: RunListsOptions) {}

  page(selection: RunSelection): Promise<RunPage> {
    const { reader, deadlineMs, lookedAtMax = LOOKED_AT_MAX } = this.options;
    const reading = reader.read(selection.orgId, async (sql) => {
      // Read before the page itself: the range must be known, not inferred from the rows found.
      const reach = isFilter(selection) ? await reachOf(sql, selection, lookedAtMax) : null;
      return pageOf(await rowsOf(sql, selection, reach), selection.limit, reach);
    });
    return withDeadline(reading, deadlineMs);
  }
}

/** Returns the last run that this page reads; null when the list ends before. */
export async function reachOf(sql: TransactionSql, selection: RunRange, lookedAtMax: number): Promise<RunPlace | null> {
  const [row] = await sql<PlaceRow[]>`
    select run_id, created_at_ms::float8 from scheduler.runs
    where ${createdRange(sql, selection)}
    order by runs.created_at_ms desc, run_id desc offset ${lookedAtMax - 1} limit 1`;
  return row === undefined ? null : { createdAtMs: row.created_at_ms, runId: row.run_id };
}

function rowsOf(sql: TransactionSql, selection: RunSelection, reach: RunPlace | null) {
  return sql<ListedRunRow[]>`
    select ${sql.unsafe(listedRunColumns)} from scheduler.runs
    where ${createdRange(sql, selection)} ${withinReach(sql, reach)} ${filterSql(sql, selection)}
    order by runs.created_at_ms desc, run_id desc limit ${selection.limit + 1}`;
}

export function withinReach(sql: TransactionSql, reach: RunPlace | null) {
  if (reach === null) return sql``;
  return sql`and (runs.created_at_ms, run_id) >= (${reach.createdAtMs}::bigint, ${reach.runId})`;
}

export function createdRange(
  sql: TransactionSql,
  { orgId, after, createdAfterMs, createdBeforeMs, rerunOf }: RunRange,
) {
  return sql`org_id = ${orgId}
    ${rerunOf ? sql`and rerun_of = ${rerunOf} and rerun_of <> ''` : sql``}
    ${after === null ? sql`` : sql`and (runs.created_at_ms, run_id) < (${after.createdAtMs}::bigint, ${after.runId})`}
    ${createdAfterMs === null ? sql`` : sql`and runs.created_at_ms > ${createdAfterMs}::bigint`}
    ${createdBeforeMs === null ? sql`` : sql`and runs.created_at_ms < ${createdBeforeMs}::bigint`}`;
}

function pageOf(rows: readonly ListedRunRow[], limit: number, reach: RunPlace | null): RunPage {
  let bytes = 0;
  let shown = 0;
  for (const { metadata_json: metadata } of rows) {
    bytes += metadata === null ? 0 : Buffer.byteLength(metadata);
    if (shown === limit || (shown > 0 && bytes > METADATA_BYTES_MAX)) break;
    shown++;
  }
  const runs = rows.slice(0, shown).map(listedRun);
  const last = runs.at(-1)?.facts;
  const more = shown < rows.length && last !== undefined;
  if (more) return { runs, next: { createdAtMs: last.createdAtMs, runId: last.runId }, searchedToMs: null };
  return { runs, next: reach, searchedToMs: reach?.createdAtMs ?? null };
}

/** A run in a list: its row without steps, content and the columns that only its owner needs. */
export const listedRunColumns = selected(({ listed }) => listed);

/** The facts of the run, and its state. */
export interface ListedRun {
  readonly facts: ListedFacts;
  readonly revision: number;
  readonly status: Run['status'];
  readonly stateSinceMs: number;
  readonly startedAtMs: number | null;
  readonly spans: { readonly queuedMs: number; readonly runningMs: number; readonly waitingMs: number };
  readonly attempts: number;
  readonly cancelRequested: boolean;
  /** Of a sleeping run. */
  readonly wakeAtMs: number | null;
  /** Of a failed run. */
  readonly error: ListedError | null;
  /** The failure of a run whose cleanup still runs. */
  readonly ending: Omit<RunError, 'message'> | null;
}

interface ListedError extends Omit<RunError, 'message'> {
  /** The first line of the message, which may quote values of the run; empty for a run in device mode. */
  readonly firstLine: string;
}

export function listedRun(row: ListedRunRow): ListedRun {
  return {
    facts: listedFactsFrom(row),
    revision: row.revision,
    status: row.status,
    stateSinceMs: row.state_since_ms,
    startedAtMs: row.started_at_ms,
    spans: { queuedMs: row.queued_ms, runningMs: row.running_ms, waitingMs: row.waiting_ms },
    attempts: row.attempts,
    cancelRequested: row.cancel_requested,
    wakeAtMs: row.wake_at_ms,
    error: row.error_json === null ? null : listedError(JSON.parse(row.error_json), row.content_id !== null),
    ending: row.ending_json === null ? null : errorOf((JSON.parse(row.ending_json) as RunEnding).error),
  };
}

const LINE_CHARACTERS_MAX = 300;

function listedError(error: RunError, isSealed: boolean): ListedError {
  const firstLine = isSealed ? '' : (/^[^\r\n]*/.exec(error.message.trimStart())?.[0] ?? '');
  return {
    ...errorOf(error),
    firstLine: [...firstLine.slice(0, 2 * LINE_CHARACTERS_MAX)].slice(0, LINE_CHARACTERS_MAX).join(''),
  };
}

function errorOf({ message: _message, ...rest }: RunError): Omit<RunError, 'message'> {
  return rest;
}
