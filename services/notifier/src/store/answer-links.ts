// Rows of notifier.answer_links. A link is found by the hash of its token, from which its organization follows, like
// that of a session from its cookie.
import type { EndpointId, OrgId, QuestionId, RunId, UserId } from '@methods/base/ids';
import type { Sql, TransactionSql } from '@methods/postgres/pool';
import type { AnswerLink, NewLink } from '../answer-link/answer-link.ts';

/** Postgres's number of the type: without it the driver takes an array of buffers for one buffer. */
const BYTEA = 17;

interface LinkRow {
  readonly org_id: OrgId;
  readonly run_id: RunId;
  readonly question_id: QuestionId;
  readonly recipient: string;
  readonly user_id: UserId | '';
  readonly endpoint_id: EndpointId | '';
  readonly expires_at_ms: number;
  readonly used_at_ms: number;
  readonly ended_at_ms: number;
}

/** For this long after its end a link's page still shows the outcome of its question. */
const KEPT_DAYS = 30;
/** More than one new row deletes, so that a backlog shrinks too. */
const SWEPT_MAX = 100;

/** A known link stays open until the later of both times. Also deletes some links that ended long ago. */
export async function storeLinks(sql: Sql | TransactionSql, links: readonly NewLink[]): Promise<void> {
  if (links.length === 0) return;
  const tokens = links.map(({ tokenSha256 }) => tokenSha256);
  await sql`
    with swept as (
      delete from notifier.answer_links where ctid = any(array(
        select ctid from notifier.answer_links
        where expires_at <= statement_timestamp() - make_interval(days => ${KEPT_DAYS}::int)
        order by expires_at limit ${Math.max(SWEPT_MAX, links.length * 2)}
        for update skip locked))
    )
    insert into notifier.answer_links as l
      (org_id, token_sha256, run_id, question_id, recipient, user_id, endpoint_id, expires_at)
    select org_id, token_sha256, run_id, question_id, recipient, user_id, endpoint_id,
      to_timestamp(expires_at_ms / 1000)
    from unnest(
      ${links.map(({ orgId }) => orgId)}::text[], ${sql.array(tokens, BYTEA)}::bytea[],
      ${links.map(({ runId }) => runId)}::text[], ${links.map(({ questionId }) => questionId)}::text[],
      ${links.map(({ recipient }) => recipient)}::text[], ${links.map(({ userId }) => userId)}::text[],
      ${links.map(({ endpointId }) => endpointId)}::text[], ${links.map(({ expiresAtMs }) => expiresAtMs)}::float8[]
    ) as t(org_id, token_sha256, run_id, question_id, recipient, user_id, endpoint_id, expires_at_ms)
    order by token_sha256
    on conflict (org_id, token_sha256) do update set expires_at = greatest(l.expires_at, excluded.expires_at)`;
}

export async function findLink(sql: Sql, tokenSha256: Uint8Array): Promise<AnswerLink | null> {
  const [row] = await sql<LinkRow[]>`
    select ${columns(sql)} from notifier.answer_links l where l.token_sha256 = ${tokenSha256}`;
  return row === undefined ? null : toLink(row);
}

/** Returns the link after its use; null for an unknown one. */
export async function useLink(sql: Sql, tokenSha256: Uint8Array): Promise<AnswerLink | null> {
  // A single condition: with two, Postgres without statistics reads the index of all open links.
  await sql`
    update notifier.answer_links set used_at = now()
    where token_sha256 = ${tokenSha256} and coalesce(used_at, ended_at) is null`;
  return findLink(sql, tokenSha256);
}

/** Ends the open links of these questions. */
export async function endLinks(
  sql: Sql | TransactionSql,
  closed: readonly { readonly orgId: OrgId; readonly runId: RunId; readonly questionId: QuestionId }[],
): Promise<void> {
  if (closed.length === 0) return;
  await sql`
    update notifier.answer_links l set ended_at = now()
    from unnest(
      ${closed.map(({ orgId }) => orgId)}::text[], ${closed.map(({ runId }) => runId)}::text[],
      ${closed.map(({ questionId }) => questionId)}::text[]
    ) as t(org_id, run_id, question_id)
    where l.org_id = t.org_id and l.run_id = t.run_id and l.question_id = t.question_id
      and l.used_at is null and l.ended_at is null`;
}

function columns(sql: Sql) {
  return sql`l.org_id, l.run_id, l.question_id, l.recipient, l.user_id, l.endpoint_id,
    extract(epoch from l.expires_at)::float8 * 1000 as expires_at_ms,
    coalesce(extract(epoch from l.used_at)::float8 * 1000, 0) as used_at_ms,
    coalesce(extract(epoch from l.ended_at)::float8 * 1000, 0) as ended_at_ms`;
}

function toLink(row: LinkRow): AnswerLink {
  return {
    orgId: row.org_id,
    runId: row.run_id,
    questionId: row.question_id,
    recipient: row.recipient,
    userId: row.user_id,
    endpointId: row.endpoint_id,
    expiresAtMs: Math.round(row.expires_at_ms),
    usedAtMs: Math.round(row.used_at_ms),
    endedAtMs: Math.round(row.ended_at_ms),
  };
}
