// Stores the mails of a question, with their links, in one transaction. A person who has got many in the last hour, or
// whose organization has sent many, gets one mail of several questions at the end of that hour; none is lost.
import { type DeliveryId, newId, type OrgId } from '@methods/base/ids';
import type { Sql, TransactionSql } from '@methods/postgres/pool';
import type { ClaimedDelivery, PlannedDelivery } from '../delivery/delivery.ts';
import type { RecipientMail, StoredMails } from '../email/announce.ts';
import { MAIL_HOST } from '../email/mail-job.ts';
import { storeLinks } from './answer-links.ts';
import { closedQuestions } from './mailed-questions.ts';
import { storeDeliveries } from './store-deliveries.ts';

/** Mails to one person in an hour, and from one organization. */
export const MAILS_AN_HOUR = { recipient: 20, organization: 2_000 };
/** Questions that a mail of several shows, and one more, which shows that there are further ones. */
const DIGEST_PARTS_MAX = 51;
const HOUR_S = 3_600;
/** Only counts of the last hour are needed. More than one new row deletes, so that a backlog shrinks too. */
const SWEPT_MAX = 100;

interface Count {
  readonly isFull: boolean;
  /** Until the hour ends. */
  readonly leftMs: number;
}

/** Null: the question is closed. Mails that are stored already are not changed. */
export function storeMails(
  sql: Sql,
  announced: ClaimedDelivery,
  mails: readonly RecipientMail[],
  nowMs: number,
): Promise<StoredMails | null> {
  const { orgId } = announced;
  return sql.begin(async (tx) => {
    const asked = [...new Set(mails.map(({ link }) => link.questionId))];
    if ((await closedQuestions(tx, orgId, asked, { isLocked: true })).size > 0) return null;
    const fresh = await unknown(tx, announced, mails);
    if (fresh.length === 0) return { single: 0, gathered: 0 };
    const counts = await countMails(tx, orgId, fresh);
    const isFull = ({ recipient }: RecipientMail) => counts.get(recipient)?.isFull ?? false;
    const single = fresh.filter((mail) => !isFull(mail));
    const gathered = fresh.filter(isFull);
    await storeLinks(
      tx,
      fresh.map(({ link }) => link),
    );
    const planned = single.map(({ url, body }) => plannedMail(announced, url, body, nowMs));
    await storeDeliveries(tx, planned);
    await gather(tx, announced, gathered, counts, nowMs);
    return { single: single.length, gathered: gathered.length };
  });
}

function plannedMail(
  { orgId, runId, seq, event }: ClaimedDelivery,
  url: string,
  body: Buffer,
  createdAtMs: number,
): PlannedDelivery {
  const mail = { kind: 'mail', host: MAIL_HOST, endpointId: '', keyId: '' } as const;
  return { ...mail, orgId, runId, seq, event, url, body, createdAtMs, deliveryId: newId('dlv') };
}

async function unknown(tx: TransactionSql, { orgId, runId, seq }: ClaimedDelivery, mails: readonly RecipientMail[]) {
  const rows = await tx<{ url: string }[]>`
    select d.url from unnest(${mails.map(({ url }) => url)}::text[]) as t(url) cross join lateral (
      select url from notifier.deliveries
      where org_id = ${orgId} and run_id = ${runId} and seq = ${seq}
        and url_sha256 = sha256(convert_to(t.url, 'UTF8'))) d`;
  const known = new Set(rows.map(({ url }) => url));
  return mails.filter(({ url }) => !known.has(url));
}

/** Counts a mail for each of them, and all of them for the organization. */
async function countMails(
  tx: TransactionSql,
  orgId: OrgId,
  mails: readonly RecipientMail[],
): Promise<ReadonlyMap<string, Count>> {
  // The organization's row has no recipient and comes first, so that concurrent calls lock the rows in one order.
  const names = ['', ...mails.map(({ recipient }) => recipient).sort()];
  const rows = await tx<{ recipient: string; mails: number; left_ms: number }[]>`
    with swept as (
      delete from notifier.mail_counts where ctid = any(array(
        select ctid from notifier.mail_counts
        where since <= statement_timestamp() - make_interval(secs => ${HOUR_S * 24})
        order by since limit ${Math.max(SWEPT_MAX, names.length * 2)}
        for update skip locked))
        and not (org_id = ${orgId} and recipient = any(${names}::text[]))
    )
    insert into notifier.mail_counts as c (org_id, recipient, mails)
    select ${orgId}, name, case when name = '' then ${mails.length}::int else 1 end
    from unnest(${names}::text[]) with ordinality n(name, place) order by place
    on conflict (org_id, recipient) do update set
      mails = case when c.since <= now() - make_interval(secs => ${HOUR_S}) then 0 else c.mails end + excluded.mails,
      since = case when c.since <= now() - make_interval(secs => ${HOUR_S}) then now() else c.since end
    returning recipient, mails,
      extract(epoch from since + make_interval(secs => ${HOUR_S}) - now())::float8 * 1000 as left_ms`;
  const all = rows.find(({ recipient }) => recipient === '')?.mails ?? 0;
  const isFull = (count: number) => all > MAILS_AN_HOUR.organization || count > MAILS_AN_HOUR.recipient;
  return new Map(rows.map((row) => [row.recipient, { isFull: isFull(row.mails), leftMs: Math.max(0, row.left_ms) }]));
}

/** Adds the question to each recipient's next mail of several questions, and creates it if none waits. */
async function gather(
  tx: TransactionSql,
  announced: ClaimedDelivery,
  mails: readonly RecipientMail[],
  counts: ReadonlyMap<string, Count>,
  nowMs: number,
): Promise<void> {
  if (mails.length === 0) return;
  const { orgId, runId, seq } = announced;
  const digests = await waitingDigests(tx, orgId, mails);
  const fresh = mails.flatMap(({ recipient, url, digestBody }): PlannedDelivery[] => {
    if (digests.has(recipient)) return [];
    const planned = plannedMail(announced, url, digestBody, nowMs);
    digests.set(recipient, planned.deliveryId);
    return [{ ...planned, dueInMs: counts.get(recipient)?.leftMs ?? 0 }];
  });
  await storeDeliveries(tx, fresh);
  const gathered = await tx<{ recipient: string; gathered: number }[]>`
    update notifier.mail_counts c set digest_id = t.delivery_id,
      gathered = case when c.digest_id is distinct from t.delivery_id then 1 else c.gathered + 1 end
    from unnest(${[...digests.keys()]}::text[], ${[...digests.values()]}::text[]) as t(recipient, delivery_id)
    where c.org_id = ${orgId} and c.recipient = t.recipient
    returning c.recipient, c.gathered`;
  const full = new Set(gathered.flatMap((row) => (row.gathered > DIGEST_PARTS_MAX ? [row.recipient] : [])));
  const shown = mails.filter(({ recipient }) => !full.has(recipient));
  await tx`
    insert into notifier.mail_digests (org_id, delivery_id, run_id, seq, part)
    select ${orgId}, delivery_id, ${runId}, ${seq}, part
    from unnest(
      ${shown.map(({ recipient }) => digests.get(recipient) ?? '')}::text[],
      ${shown.map(({ digestPart }) => digestPart)}::text[]
    ) as t(delivery_id, part)
    on conflict (org_id, delivery_id, run_id, seq) do nothing`;
}

/** A mail that is being sent has already been read. */
async function waitingDigests(
  tx: TransactionSql,
  orgId: OrgId,
  mails: readonly RecipientMail[],
): Promise<Map<string, DeliveryId>> {
  const rows = await tx<{ recipient: string; delivery_id: DeliveryId }[]>`
    select c.recipient, d.delivery_id
    from unnest(${mails.map(({ recipient }) => recipient).sort()}::text[]) r(recipient)
    cross join lateral (
      select recipient, digest_id from notifier.mail_counts
      where org_id = ${orgId} and recipient = r.recipient and (digest_id is not null) is true) c
    cross join lateral (
      select delivery_id from notifier.deliveries
      where org_id = ${orgId} and delivery_id = c.digest_id and (status = 'pending' and claim is null) is true
      for update) d`;
  return new Map(rows.map((row) => [row.recipient, row.delivery_id]));
}

/** The questions of a mail; one more than it shows if there are further ones. */
export async function digestParts(sql: Sql, orgId: OrgId, deliveryId: DeliveryId): Promise<string[]> {
  const rows = await sql<{ part: string }[]>`
    select part from notifier.mail_digests where org_id = ${orgId} and delivery_id = ${deliveryId}
    order by run_id, seq limit ${DIGEST_PARTS_MAX}`;
  return rows.map(({ part }) => part);
}
