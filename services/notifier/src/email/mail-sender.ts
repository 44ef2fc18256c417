// One try of a mail: whether it is still wanted, its link, its text, and the SMTP server's reply.
import type { Clock } from '@methods/base/clock';
import type { DeliveryId, OrgId, QuestionId, UserId } from '@methods/base/ids';
import type { Logger } from '@methods/logging/logger';
import {
  type AnswerLink,
  type LinkSettings,
  linkExpiresAtMs,
  makeLink,
  type NewLink,
} from '../answer-link/answer-link.ts';
import type { ClaimedDelivery } from '../delivery/delivery.ts';
import type { AddressPlaces } from '../webhook/address-places.ts';
import type { TryOutcome } from '../webhook/webhook-sender.ts';
import { AUTOMATIC, isMailAddress, messageId } from './mail-headers.ts';
import { type Announcement, type MailJob, type MailRecipient, type QuestionMail, readJob } from './mail-job.ts';
import { digestMail, type LinkedMail, type MailText, questionMail } from './mail-text.ts';
import type { Smtp, SmtpReply } from './smtp.ts';

export interface MailSenderOptions {
  readonly smtp: Pick<Smtp, 'send'>;
  readonly from: string;
  readonly links: LinkSettings;
  /** Returns what it did; null: the question is closed. */
  readonly announce: (delivery: ClaimedDelivery, announcement: Announcement) => Promise<string | null>;
  readonly findLink: (tokenSha256: Buffer) => Promise<AnswerLink | null>;
  readonly storeLink: (link: NewLink) => Promise<void>;
  readonly closedQuestions: (orgId: OrgId, questionIds: readonly QuestionId[]) => Promise<ReadonlySet<string>>;
  /** Returns one more than a mail shows if there are further ones. */
  readonly digestParts: (orgId: OrgId, deliveryId: DeliveryId) => Promise<readonly string[]>;
  readonly hasAccess: (orgId: OrgId, userId: UserId) => Promise<boolean>;
  /** Bounds the sends to the SMTP server at a time: for an organization, and in total. */
  readonly places: Pick<AddressPlaces, 'enter'>;
  /** Reports whether a fault ends by itself, so that the try does not count. */
  readonly isPassing: (error: unknown) => boolean;
  readonly clock: Clock;
  /** For handing the mail over; less than the time of a claim. */
  readonly timeoutMs: number;
  readonly logger: Logger;
}

const SERVER = [{ address: 'smtp', family: 4 }] as const;
const DIGEST_MAX = 50;
const NAME_CHARACTERS_MAX = 80;

/** A question of a mail about several. */
type DigestPart = Pick<QuestionMail, 'event' | 'method' | 'question'>;

interface Prepared {
  readonly recipient: MailRecipient;
  readonly text: MailText;
  readonly id: string;
  /** Null: it follows none. */
  readonly follows: string | null;
}

/** Why nothing is sent, now or later. */
type Unwanted = 'question_closed' | 'recipient_removed' | 'address_invalid';

export class MailSender {
  private readonly domain: string;

  constructor(private readonly options: MailSenderOptions) {
    this.domain = /@([A-Za-z0-9.-]+)>?\s*$/.exec(options.from)?.[1] ?? 'localhost';
  }

  /** Never rejects. `stop` ends the wait for a reply; the try is then postponed. */
  async send(delivery: ClaimedDelivery, stop: AbortSignal): Promise<TryOutcome> {
    const { clock, logger, isPassing } = this.options;
    const startedAtMs = clock.wallMs();
    const started = clock.monotonicMs();
    const tried = ({ code, error, text }: Omit<SmtpReply, 'isRefusal'>, isLast = false): TryOutcome => ({
      kind: 'tried',
      isLast,
      result: {
        startedAtMs,
        durationMs: Math.round(clock.monotonicMs() - started),
        httpStatus: code,
        error,
        answerStart: text,
      },
    });
    const unwanted = (error: Unwanted) => tried({ code: 0, error, text: '' }, true);
    try {
      const job = readJob(delivery.body);
      if (job.kind === 'announcement') {
        if (this.isOver(job.question.deadlineAtMs)) return unwanted('question_closed');
        const done = await this.options.announce(delivery, job);
        return done === null ? unwanted('question_closed') : tried({ code: 250, error: '', text: done });
      }
      const prepared = await this.prepare(delivery, job);
      if (typeof prepared === 'string') return unwanted(prepared);
      const leave = await this.options.places.enter(delivery.orgId, SERVER, stop);
      if (leave === null) return { kind: 'postponed', reason: 'the SMTP server has enough to do' };
      const reply = await this.handOver(prepared, stop).finally(leave);
      if (reply.code === 0 && stop.aborted) return { kind: 'postponed', reason: 'stopping' };
      return tried(reply, reply.isRefusal);
    } catch (error) {
      logger.warn({ error, org_id: delivery.orgId, delivery_id: delivery.deliveryId }, 'a mail could not be prepared');
      if (isPassing(error)) return { kind: 'postponed', reason: 'the registry or the database is unavailable' };
      return tried({ code: 0, error: 'not_prepared', text: '' });
    }
  }

  private isOver(deadlineAtMs: number): boolean {
    return deadlineAtMs > 0 && this.options.clock.wallMs() >= deadlineAtMs;
  }

  private async prepare(
    { orgId, runId, seq, deliveryId }: ClaimedDelivery,
    job: Exclude<MailJob, Announcement>,
  ): Promise<Prepared | Unwanted> {
    const { clock, hasAccess, digestParts, links } = this.options;
    const { recipient } = job;
    if (!isMailAddress(recipient.email)) return 'address_invalid';
    if (recipient.userId !== '' && !(await hasAccess(orgId, recipient.userId))) return 'recipient_removed';
    if (job.kind === 'question') {
      const [linked] = await this.linked(orgId, recipient, [job]);
      if (linked === undefined) return 'question_closed';
      const thread = { orgId, id: job.question.questionId, recipient: recipient.email };
      const first = messageId({ ...thread, part: '' }, this.domain);
      const text = questionMail({ ...job, ...linked }, clock.wallMs());
      if (job.event === 'needs_input' && job.assignedBy === undefined)
        return { recipient, text, id: first, follows: null };
      const id = messageId({ ...thread, part: `${job.event} ${runId} ${seq}` }, this.domain);
      return { recipient, text, id, follows: first };
    }
    const parts = await digestParts(orgId, deliveryId);
    const shown = parts.slice(0, DIGEST_MAX).map((part) => JSON.parse(part) as DigestPart);
    const questions = await this.linked(orgId, recipient, shown);
    if (questions.length === 0) return 'question_closed';
    const text = digestMail(recipient, questions, parts.length > DIGEST_MAX, links.publicUrl, clock.wallMs());
    const id = messageId({ orgId, id: deliveryId, recipient: recipient.email, part: 'digest' }, this.domain);
    return { recipient, text, id, follows: null };
  }

  /** Without questions that are closed, or that the recipient has answered. */
  private async linked(orgId: OrgId, recipient: MailRecipient, parts: readonly DigestPart[]): Promise<LinkedMail[]> {
    const open = parts.filter(({ question }) => !this.isOver(question.deadlineAtMs));
    const ids = open.map(({ question }) => question.questionId);
    const closed = await this.options.closedQuestions(orgId, ids);
    const linked: LinkedMail[] = [];
    const seen = new Set<string>();
    for (const { method, question } of open) {
      // A question and its reminder may be in one mail.
      if (closed.has(question.questionId) || seen.has(question.questionId)) continue;
      seen.add(question.questionId);
      const url = await this.openLink(orgId, recipient, question);
      if (url !== null) linked.push({ method, question, link: url });
    }
    return linked;
  }

  /** Null: it was used, or has ended. */
  private async openLink(
    orgId: OrgId,
    { email, userId }: MailRecipient,
    { questionId, runId, deadlineAtMs }: QuestionMail['question'],
  ): Promise<string | null> {
    const { links, findLink, storeLink, clock } = this.options;
    const { url, tokenSha256 } = makeLink(links, { orgId, questionId, recipient: email, n: 0 });
    const known = await findLink(tokenSha256);
    if (known !== null) return known.usedAtMs > 0 || known.endedAtMs > 0 ? null : url;
    // The key has changed since the mail was stored.
    const expiresAtMs = linkExpiresAtMs(deadlineAtMs, clock.wallMs());
    const recipient = { recipient: email, userId, endpointId: '' } as const;
    await storeLink({ orgId, runId, questionId, ...recipient, tokenSha256, expiresAtMs });
    return url;
  }

  private async handOver({ recipient, text, id, follows }: Prepared, stop: AbortSignal): Promise<SmtpReply> {
    const { smtp, from, clock, timeoutMs } = this.options;
    const name = recipient.name.replace(/[\p{Cc}\p{Cs}]/gu, ' ').slice(0, NAME_CHARACTERS_MAX);
    const to = { name, address: recipient.email };
    const ending = new AbortController();
    const end = () => ending.abort();
    const timer = clock.after(timeoutMs, end);
    stop.addEventListener('abort', end);
    if (stop.aborted) end();
    try {
      return await smtp.send({ from, to, ...text, messageId: id, follows, headers: AUTOMATIC }, ending.signal);
    } finally {
      timer.cancel();
      stop.removeEventListener('abort', end);
    }
  }
}
