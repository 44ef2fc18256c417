// Tracks which questions people are asked by mail, and which of them are closed: those are neither mailed nor answered
// by a link.
import type { OrgId, QuestionId, RunId } from '@methods/base/ids';
import type { Sql, TransactionSql } from '@methods/postgres/pool';

export interface QuestionChange {
  readonly orgId: OrgId;
  readonly runId: RunId;
  readonly questionId: QuestionId;
  readonly isClosed: boolean;
  /** Only open questions for the team are mailed; a closed one may arrive before it was known. */
  readonly isForTeam: boolean;
}

/** Longer than a bus redelivers an event. */
const KEPT_DAYS = 30;
/** More than one new row deletes, so that a backlog shrinks too. */
const SWEPT_MAX = 100;

/** In one transaction with the consequences of the questions. */
export async function recordQuestions(sql: Sql | TransactionSql, changes: readonly QuestionChange[]): Promise<void> {
  const open = changes.filter(({ isClosed }) => !isClosed);
  const closed = changes.filter(({ isClosed }) => isClosed);
  if (open.length > 0) await insertQuestions(sql, open);
  const early = closed.filter(({ isForTeam }) => isForTeam);
  if (early.length > 0) await insertQuestions(sql, early);
  if (closed.length > 0) await closeQuestions(sql, closed);
}

async function insertQuestions(sql: Sql | TransactionSql, changes: readonly QuestionChange[]): Promise<void> {
  await sql`
    with swept as (
      delete from notifier.mailed_questions where ctid = any(array(
        select ctid from notifier.mailed_questions
        where closed_at <= statement_timestamp() - make_interval(days => ${KEPT_DAYS}::int)
        order by closed_at limit ${Math.max(SWEPT_MAX, changes.length * 2)}
        for update skip locked))
    )
    insert into notifier.mailed_questions (org_id, question_id, run_id)
    select org_id, question_id, run_id from unnest(
      ${changes.map(({ orgId }) => orgId)}::text[], ${changes.map(({ questionId }) => questionId)}::text[],
      ${changes.map(({ runId }) => runId)}::text[]
    ) as t(org_id, question_id, run_id)
    order by org_id, question_id
    on conflict (org_id, question_id) do nothing`;
}

async function closeQuestions(sql: Sql | TransactionSql, closed: readonly QuestionChange[]): Promise<void> {
  await sql`
    update notifier.mailed_questions q set closed_at = now()
    from (
      select m.org_id, m.question_id from unnest(
        ${closed.map(({ orgId }) => orgId)}::text[], ${closed.map(({ questionId }) => questionId)}::text[]
      ) as t(org_id, question_id) cross join lateral (
        select org_id, question_id from notifier.mailed_questions
        where org_id = t.org_id and question_id = t.question_id and (closed_at is null) is true
        for update) m
      order by m.org_id, m.question_id) one
    where q.org_id = one.org_id and q.question_id = one.question_id`;
}

/** With `isLocked` none of them is closed before the transaction ends. */
export async function closedQuestions(
  sql: Sql | TransactionSql,
  orgId: OrgId,
  questionIds: readonly QuestionId[],
  { isLocked = false } = {},
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ question_id: QuestionId; closed: boolean }[]>`
    select q.question_id, q.closed from unnest(${[...questionIds]}::text[]) as t(question_id) cross join lateral (
      select question_id, closed_at is not null as closed from notifier.mailed_questions
      where org_id = ${orgId} and question_id = t.question_id
      ${isLocked ? sql`for share` : sql``}) q`;
  return new Set(rows.flatMap(({ question_id: id, closed }) => (closed ? [id] : [])));
}
