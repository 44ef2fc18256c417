// The content of a mail's delivery. It is JSON, built when the event arrives; the mail is rendered from it when it is
// sent, so no stored body has a link.
import type { ProductionId, QuestionId, RunId, UserId } from '@methods/base/ids';
import type { QuestionEvent } from '../delivery/run-event.ts';

/** Texts are cut when the event is stored, since a body is copied for each recipient. */
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
  /** The run is in device mode: the mail only says that a question waits. */
  readonly onDevice?: true;
}

/** An event of a question whose recipients are not known yet. */
export interface Announcement {
  readonly kind: 'announcement';
  readonly event: QuestionEvent;
  readonly method: ProductionId;
  /** Addresses and roles; empty: the publisher, or else the admins. */
  readonly to: readonly string[];
  /** Further addresses; absent: none. */
  readonly also?: readonly string[];
  /** The person who assigned it to the only address of `to`; absent: its rules name the people. */
  readonly assignedBy?: string;
  /** People who may not answer, or already have. */
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

/** A mail about several questions to one person; the questions are in separate rows. */
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
  /** No mail has the content of the organization's questions. */
  readonly contentOnDevices: boolean;
}

export type MailJob = Announcement | QuestionMail | DigestMail;

/** The host of all mails: an organization may have as many of them in flight as webhooks to one host. */
export const MAIL_HOST = 'mailto:';

export function writeJob(job: MailJob): Buffer {
  return Buffer.from(JSON.stringify(job), 'utf8');
}

/** Reads a body that `writeJob` made. */
export function readJob(body: Buffer): MailJob {
  return JSON.parse(body.toString('utf8')) as MailJob;
}
