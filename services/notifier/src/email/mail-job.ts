// What the body of a mail's delivery holds. It is JSON, made when the event comes; the mail is rendered of it when it is
// sent, so no stored body has a link.
import type { ProductionId, QuestionId, RunId, UserId } from '@methods/base/ids';
import type { QuestionEvent } from '../delivery/run-event.ts';

/** Texts are cut when the event is stored: a body is copied for each recipient. */
export interface MailedQuestion {
  readonly questionId: QuestionId;
  readonly runId: RunId;
  readonly prompt: string;
  readonly details: string;
  readonly show: readonly { readonly path: string; readonly text: string }[];
  /** 0: waits until answered or cancelled. */
  readonly deadlineAtMs: number;
  /** The method's own answer counts at the deadline; else the run fails. */
  readonly answersItself: boolean;
}

/** An event of a question whose recipients are still to be asked for. */
export interface Announcement {
  readonly kind: 'announcement';
  readonly event: QuestionEvent;
  readonly method: ProductionId;
  /** Addresses and roles; empty: the publisher, else the admins. */
  readonly to: readonly string[];
  /** Addresses beside those; absent: none. */
  readonly also?: readonly string[];
  /** The person who gave it to the one address of `to`; absent: its rules name the people. */
  readonly assignedBy?: string;
  /** People who may not answer, or have. */
  readonly except: readonly MailedPerson[];
  readonly question: MailedQuestion;
}

export interface MailedPerson {
  readonly userId: UserId | '';
  /** In lower case; empty: unknown. */
  readonly email: string;
}

/** A mail about one question to one person. */
export interface QuestionMail {
  readonly kind: 'question';
  readonly event: QuestionEvent;
  /** As in the announcement. */
  readonly assignedBy?: string;
  readonly recipient: MailRecipient;
  readonly method: MailedMethod;
  readonly question: MailedQuestion;
}

/** A mail about several questions to one person; they are in rows of their own. */
export interface DigestMail {
  readonly kind: 'digest';
  readonly recipient: MailRecipient;
}

export interface MailRecipient extends MailedPerson {
  readonly name: string;
  readonly reason: 'named' | 'publisher' | 'admin';
}

export interface MailedMethod {
  readonly orgName: string;
  readonly name: string;
  /** IANA name. */
  readonly timeZone: string;
  /** The content of its questions is in no mail. */
  readonly contentOnDevices: boolean;
}

export type MailJob = Announcement | QuestionMail | DigestMail;

/** The host of all mails: an organization has as many of them under way as webhooks to one host. */
export const MAIL_HOST = 'mailto:';

export function writeJob(job: MailJob): Buffer {
  return Buffer.from(JSON.stringify(job), 'utf8');
}

/** Of a body that `writeJob` made. */
export function readJob(body: Buffer): MailJob {
  return JSON.parse(body.toString('utf8')) as MailJob;
}
