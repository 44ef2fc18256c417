// Pages and counts of an organization's open questions. One index provides the order of a list and its first condition.
// Further conditions are checked on a bounded number of questions, and the cursor moves past them.
import type { OrgId, ProductionId, QuestionId, RunId, VersionId } from '@methods/base/ids';
import { withDeadline } from '@methods/postgres/deadline';
import type { OrganizationReader } from '@methods/postgres/organization-reader';
import type { TransactionSql } from '@methods/postgres/pool';

export type Answerer = 'application' | 'team';

export interface QuestionFilter {
  readonly orgId: OrgId;
  /** Matches any of these. */
  readonly answerBy: readonly Answerer[];
  /** Matches any of these, '' for unassigned; null: all. */
  readonly assignees: readonly string[] | null;
  /** wf_...; empty: all. */
  readonly method: ProductionId | '';
  /** Due before this, the first due first; null: any, the newest first. */
  readonly dueBeforeMs: number | null;
}

/** A question's position in a list. */
export interface QuestionPlace {
  /** null in lists that begin with the newest. */
  readonly dueAtMs: number | null;
  readonly questionId: QuestionId;
}

export interface ListedQuestion {
  readonly question_id: QuestionId;
  readonly run_id: RunId;
  readonly method: ProductionId;
  readonly version_id: VersionId;
  readonly step: string;
  readonly answer_by: Answerer;
  readonly prompt: string;
  readonly asked_at_ms: number;
  readonly due_at_ms: number | null;
  readonly assignee: string;
  readonly people_json: string | null;
  readonly answerers_json: string | null;
  readonly votes: number;
  readonly on_device: boolean;
}

export interface QuestionPage {
  readonly questions: readonly ListedQuestion[];
  /** Where the next page begins; null at the end. */
  readonly next: QuestionPlace | null;
}

export interface CountedQuestions {
  readonly count: number;
  /** There may be more, since not all were read. */
  readonly more: boolean;
}

export interface QuestionListsOptions {
  readonly reader: OrganizationReader;
  readonly deadlineMs: number;
  /** Questions that a page with further conditions reads. */
  readonly lookedAtMax?: number;
  readonly countMax?: number;
}

const LOOKED_AT_MAX = 5_000;
/** People see "1,000+": an exact larger number would add nothing, and would be read entry by entry. */
const COUNT_MAX = 1_000;
/** A page is sent in one message of at most 4 MiB; only the addresses in it may be large. */
const PEOPLE_BYTES_MAX = 2 * 1024 * 1024;

/** Ids begin with q_. */
const ABOVE_ALL_IDS = 'r';

/** A range of one index: all of a list, or the part with one assignee or answerer. */
interface Branch {
  readonly orgId: OrgId;
  readonly answerBy: Answerer;
  readonly assignee: string | null;
  readonly method: ProductionId | '';
  readonly dueBeforeMs: number | null;
}

export class QuestionLists {
  constructor(private readonly options: QuestionListsOptions) {}

  page(filter: QuestionFilter, after: QuestionPlace | null, limit: number): Promise<QuestionPage> {
    const { reader, deadlineMs, lookedAtMax = LOOKED_AT_MAX } = this.options;
    const branches = branchesOf(filter);
    const before = filter.dueBeforeMs === null ? isNewer : isDueEarlier;
    const reading = reader.read(filter.orgId, async (sql) => {
      // Read before the page itself: the range must be known, not inferred from the rows found.
      const reaches = await Promise.all(
        branches.map((branch) => (isWhole(branch) ? null : reachOf(sql, branch, after, lookedAtMax))),
      );
      const reach = reaches.reduce(
        (one, other) => (other === null || (one !== null && before(one, other)) ? one : other),
        null,
      );
      const found = await Promise.all(branches.map((branch) => rowsOf(sql, branch, after, reach, limit + 1)));
      const rows = found.flat().sort((a, b) => (before(placeOf(filter, a), placeOf(filter, b)) ? -1 : 1));
      return pageOf(filter, rows, limit, reach);
    });
    return withDeadline(reading, deadlineMs);
  }

  count(filter: QuestionFilter): Promise<CountedQuestions> {
    const { reader, deadlineMs, countMax = COUNT_MAX } = this.options;
    const reading = reader.read(filter.orgId, async (sql) => {
      const counts = await Promise.all(branchesOf(filter).map((branch) => countOf(sql, branch, countMax)));
      const count = counts.reduce((sum, one) => sum + one.count, 0);
      return {
        count: Math.min(count, countMax),
        more: count > countMax || counts.some((one) => one.looked > countMax),
      };
    });
    return withDeadline(reading, deadlineMs);
  }
}

/**
 * Reports whether one index holds exactly what is selected: a page then reads what it shows, and a count what it
 * counts.
 */
export function isOneRange(filter: QuestionFilter): boolean {
  return branchesOf(filter).every(isWhole);
}

function branchesOf({ orgId, answerBy, assignees, method, dueBeforeMs }: QuestionFilter): Branch[] {
  const each = new Set<string | null>(assignees ?? [null]);
  return answerBy.flatMap((one) =>
    [...each].map((assignee) => ({ orgId, answerBy: one, assignee, method, dueBeforeMs })),
  );
}

/** Reports whether its index holds exactly what is selected. */
function isWhole({ assignee, method, dueBeforeMs }: Branch): boolean {
  return [assignee !== null, method !== '', dueBeforeMs !== null].filter(Boolean).length <= 1;
}

/** Returns the last question that this page reads; null when the branch ends before. */
async function reachOf(
  sql: TransactionSql,
  branch: Branch,
  after: QuestionPlace | null,
  lookedAtMax: number,
): Promise<QuestionPlace | null> {
  const [row] = await sql<{ question_id: QuestionId; due_at_ms: number | null }[]>`
    select question_id, due_at_ms::float8 from scheduler.questions q
    where ${range(sql, branch, after)} ${order(sql, branch)} offset ${lookedAtMax - 1} limit 1`;
  return row === undefined ? null : placeOf(branch, row);
}

function rowsOf(
  sql: TransactionSql,
  branch: Branch,
  after: QuestionPlace | null,
  reach: QuestionPlace | null,
  limit: number,
): Promise<ListedQuestion[]> {
  return sql<ListedQuestion[]>`
    select question_id, run_id, method, version_id, step, answer_by, prompt, asked_at_ms::float8, due_at_ms::float8, assignee,
      people_json, answerers_json, votes, on_device
    from scheduler.questions q
    where ${range(sql, branch, after, reach)} ${rest(sql, branch)} ${order(sql, branch)} limit ${limit}`;
}

async function countOf(sql: TransactionSql, branch: Branch, max: number): Promise<{ count: number; looked: number }> {
  const [row] = await sql<{ count: number; looked: number }[]>`
    select count(*) filter (where true ${rest(sql, branch)})::int as count, count(*)::int as looked from (
      select assignee, method from scheduler.questions q where ${range(sql, branch, null)} ${order(sql, branch)}
      limit ${max + 1}) q`;
  return row ?? { count: 0, looked: 0 };
}

/**
 * Returns the range of the branch's index: by deadline, else by assignee, else by method, else all. It is a comparison
 * of rows, ordered by all columns of the index, so that any other index would need a sort. With equalities the planner
 * would choose the index of all questions for an assignee who seems to have many, and search all of it.
 */
function range(sql: TransactionSql, branch: Branch, after: QuestionPlace | null, reach: QuestionPlace | null = null) {
  const { orgId, answerBy, assignee, method, dueBeforeMs } = branch;
  const open = sql`q.org_id = ${orgId} and q.state = 'open'`;
  if (dueBeforeMs !== null) {
    const columns = sql`(q.answer_by, q.due_at_ms, q.question_id)`;
    const last = sql`(${answerBy}, ${reach?.dueAtMs ?? dueBeforeMs}::bigint, ${reach?.questionId ?? ''})`;
    return sql`${open} and q.due_at_ms is not null
      and ${columns} > (${answerBy}, ${after?.dueAtMs ?? 0}::bigint, ${after?.questionId ?? ''})
      and ${columns} <= ${last}`;
  }
  const from = reach?.questionId ?? '';
  const to = after?.questionId ?? ABOVE_ALL_IDS;
  if (assignee !== null) {
    return sql`${open} and (q.answer_by, q.assignee, q.question_id) >= (${answerBy}, ${assignee}, ${from})
      and (q.answer_by, q.assignee, q.question_id) < (${answerBy}, ${assignee}, ${to})`;
  }
  if (method !== '') {
    return sql`${open} and (q.answer_by, q.method, q.question_id) >= (${answerBy}, ${method}, ${from})
      and (q.answer_by, q.method, q.question_id) < (${answerBy}, ${method}, ${to})`;
  }
  return sql`${open} and (q.answer_by, q.question_id) >= (${answerBy}, ${from})
    and (q.answer_by, q.question_id) < (${answerBy}, ${to})`;
}

function order(sql: TransactionSql, { assignee, method, dueBeforeMs }: Branch) {
  if (dueBeforeMs !== null) return sql`order by q.answer_by, q.due_at_ms, q.question_id`;
  if (assignee !== null) return sql`order by q.answer_by desc, q.assignee desc, q.question_id desc`;
  if (method !== '') return sql`order by q.answer_by desc, q.method desc, q.question_id desc`;
  return sql`order by q.answer_by desc, q.question_id desc`;
}

/** Returns the conditions that the range does not cover. */
function rest(sql: TransactionSql, { assignee, method, dueBeforeMs }: Branch) {
  const byAssignee = assignee !== null && dueBeforeMs !== null ? sql`and q.assignee = ${assignee}` : sql``;
  const byMethod = method !== '' && (assignee !== null || dueBeforeMs !== null) ? sql`and q.method = ${method}` : sql``;
  return sql`${byAssignee} ${byMethod}`;
}

function placeOf(
  { dueBeforeMs }: Pick<Branch, 'dueBeforeMs'>,
  row: Pick<ListedQuestion, 'question_id' | 'due_at_ms'>,
): QuestionPlace {
  return { dueAtMs: dueBeforeMs === null ? null : row.due_at_ms, questionId: row.question_id };
}

function isNewer(a: QuestionPlace, b: QuestionPlace): boolean {
  return a.questionId > b.questionId;
}

function isDueEarlier(a: QuestionPlace, b: QuestionPlace): boolean {
  const [aMs, bMs] = [a.dueAtMs ?? 0, b.dueAtMs ?? 0];
  return aMs < bMs || (aMs === bMs && a.questionId < b.questionId);
}

function pageOf(
  filter: QuestionFilter,
  rows: readonly ListedQuestion[],
  limit: number,
  reach: QuestionPlace | null,
): QuestionPage {
  let bytes = 0;
  let shown = 0;
  for (const { people_json: people, answerers_json: more } of rows) {
    bytes += Buffer.byteLength(people ?? '') + Buffer.byteLength(more ?? '');
    if (shown === limit || (shown > 0 && bytes > PEOPLE_BYTES_MAX)) break;
    shown++;
  }
  const questions = rows.slice(0, shown);
  const last = questions.at(-1);
  return { questions, next: shown < rows.length && last !== undefined ? placeOf(filter, last) : reach };
}
