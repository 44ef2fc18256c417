// Turns an event of a question into mails for its people: asks the registry for them and stores a delivery for each, or
// adds the question to the single mail of a person who has got many in this hour.
import type { Clock } from '@methods/base/clock';
import type { OrgId, ProductionId, UserId } from '@methods/base/ids';
import type { Logger } from '@methods/logging/logger';
import type { ListRecipientsResponse } from '@methods/proto/registry/v1/account_service_pb';
import { type LinkSettings, linkExpiresAtMs, makeLink, type NewLink } from '../answer-link/answer-link.ts';
import type { ClaimedDelivery } from '../delivery/delivery.ts';
import { isMailAddress } from './mail-headers.ts';
import { type Announcement, MAIL_HOST, type MailedPerson, type MailRecipient, writeJob } from './mail-job.ts';

/** One person's mail about one event. */
export interface RecipientMail {
  readonly recipient: string;
  readonly url: string;
  readonly body: Buffer;
  /** The body of a mail of several questions, and this question's part of it. */
  readonly digestBody: Buffer;
  readonly digestPart: string;
  readonly link: NewLink;
}

export interface StoredMails {
  readonly single: number;
  readonly gathered: number;
}

export interface AnnounceOptions {
  readonly recipients: (
    orgId: OrgId,
    method: ProductionId,
    to: readonly string[],
    exceptUserId: UserId | '',
  ) => Promise<ListRecipientsResponse>;
  /** Null: the question is closed, and nothing was stored. Mails that are stored already are not changed. */
  readonly store: (announced: ClaimedDelivery, mails: readonly RecipientMail[]) => Promise<StoredMails | null>;
  readonly links: LinkSettings;
  readonly clock: Clock;
  /** There are mails to send. */
  readonly onStored: () => void;
  readonly logger: Logger;
}

/** For a part of a digest: a person may have many of them. */
const PART_PROMPT_MAX = 200;

/**
 * Rejects when the registry or Postgres is unavailable; a repeat stores no mail twice. Returns a summary for the
 * record; null: the question is closed.
 */
export async function announce(
  options: AnnounceOptions,
  delivery: ClaimedDelivery,
  { event, method, to, also = [], assignedBy, except, question }: Announcement,
): Promise<string | null> {
  const { clock, links, logger, store } = options;
  const { orgId, runId } = delivery;
  const exceptUserId = except.find(({ userId }) => userId !== '')?.userId ?? '';
  const reply = await options.recipients(orgId, method, to, exceptUserId);
  const beside = also.length === 0 ? [] : (await options.recipients(orgId, method, also, exceptUserId)).recipients;
  const named = new Set(reply.recipients.map(({ email }) => email));
  const found = [...reply.recipients, ...beside.filter(({ email }) => !named.has(email))].filter(({ email }) =>
    isMailAddress(email),
  );
  const people = found.filter((one) => !except.some((who) => isSame(who, one)));
  if (people.length === 0 && found.length > 0)
    return 'Those who are asked have answered, or may not: no one is mailed.';
  if (people.length === 0) {
    logger.info(
      { org_id: orgId, run_id: runId, method },
      'no one has a verified address: a question is in the Inbox only',
    );
    return 'No one has a verified address: the question is in the Inbox only.';
  }
  const { orgName, timeZone } = reply;
  const contentOnDevices = reply.contentOnDevices || question.onDevice === true;
  const mailedMethod = { orgName, name: reply.methodName || method, timeZone, contentOnDevices };
  const asked = contentOnDevices ? { ...question, prompt: '', details: '', show: [] } : question;
  const part = { ...asked, prompt: asked.prompt.slice(0, PART_PROMPT_MAX), details: '', show: [] };
  const mails = people.map(({ userId, email, name, reason }): RecipientMail => {
    const recipient: MailRecipient = { userId, email, name, reason: reasonOf(reason) };
    const { questionId } = question;
    const { tokenSha256 } = makeLink(links, { orgId, questionId, recipient: email, n: 0 });
    const expiresAtMs = linkExpiresAtMs(question.deadlineAtMs, clock.wallMs());
    return {
      recipient: email,
      url: `${MAIL_HOST}${email}`,
      body: writeJob({
        kind: 'question',
        event,
        ...(assignedBy !== undefined && { assignedBy }),
        recipient,
        method: mailedMethod,
        question: asked,
      }),
      digestBody: writeJob({ kind: 'digest', recipient }),
      digestPart: JSON.stringify({ event, method: mailedMethod, question: part }),
      link: { orgId, runId, questionId, recipient: email, userId, endpointId: '', tokenSha256, expiresAtMs },
    };
  });
  const stored = await store(delivery, mails);
  if (stored === null) return null;
  options.onStored();
  const gathered = stored.gathered === 0 ? '' : `, ${stored.gathered} gathered into a mail of several questions`;
  const more = reply.more ? ' Further people get no mail.' : '';
  return `${people.length} recipients: ${stored.single} mails${gathered}.${more}`;
}

function isSame(a: MailedPerson, b: { readonly userId: string; readonly email: string }): boolean {
  return (a.userId !== '' && a.userId === b.userId) || (a.email !== '' && a.email === b.email);
}

function reasonOf(reason: string): MailRecipient['reason'] {
  return reason === 'named' || reason === 'publisher' ? reason : 'admin';
}
