// A notifier that sends mail to a real SMTP server, and the organizations whose questions it mails.
import { after } from 'node:test';
import { newId, newRunId, type OrgId, type QuestionId } from '@methods/base/ids';
import { Answerer } from '@methods/proto/run/v1/run_pb';
import { until } from '@methods/test/harness/until';
import { type MailServer, mailServer, type ReceivedMail } from './mail-server.fixture.ts';
import {
  type Event,
  type MailedMember,
  type NotifierStack,
  notifierStack,
  succeeded,
} from './notifier-stack.fixture.ts';

const PUBLIC_URL = 'https://methods.example';
const LINK_KEY = Buffer.alloc(32, 5).toString('base64');

export const POLICY = {
  to: [],
  notStarter: false,
  needs: 0,
  needsOn: [],
  remindMs: [],
  escalateAfterMs: 0,
  escalateTo: [],
};

export interface Mailing {
  readonly stack: NotifierStack;
  readonly server: MailServer;
  /** Called for each recipient before it is accepted. */
  readonly onRecipient: Map<string, () => Promise<void> | void>;
  stop(): Promise<void>;
}

let common: Promise<Mailing> | undefined;

// The process's hook: runs when the tests of all its files have ended.
after(async () => (await common?.catch(() => undefined))?.stop());

/** One for all files of a process: their organizations and addresses differ. */
export function commonMailing(): Promise<Mailing> {
  common ??= startMailing();
  return common;
}

async function startMailing(): Promise<Mailing> {
  const stack = await notifierStack();
  const onRecipient: Mailing['onRecipient'] = new Map();
  const server = await mailServer({ onRecipient: (address) => onRecipient.get(address)?.() });
  const notifier = await stack.notifier({
    SMTP_URL: server.url,
    MAIL_FROM: 'Methods <methods@example.com>',
    MAIL_RETRY_MS: '20,20',
    PUBLIC_URL,
    LINK_KEY,
  });
  const stop = async () => {
    await notifier.stop();
    await server[Symbol.asyncDispose]();
    await stack[Symbol.asyncDispose]();
  };
  return { stack, server, onRecipient, stop };
}

/** An organization whose mail goes to these people, each with a different address. */
export function organization({ stack }: Mailing, ...names: string[]) {
  const orgId = newId('org');
  const people = names.map((name): MailedMember => {
    const email = `${name}-${orgId.slice(-10).toLowerCase()}@example.com`;
    return { userId: newId('usr'), email, name, reason: 'publisher' };
  });
  stack.recipients.set(orgId, () => people);
  const [first] = people;
  if (first === undefined) throw new Error('an organization has people');
  return { orgId, people, first };
}

export function asked(
  orgId: OrgId,
  question: object = {},
  fields: object = {},
): Event & { question: { id: QuestionId } } {
  const whole = {
    id: newId('q'),
    step: 'approve',
    prompt: 'Refund 250 EUR to ord_7f3?',
    details: '',
    show: [],
    votes: [],
  };
  const event = { event: 'needs_input', resultJson: '', seq: 2, orgId, runId: newRunId(1), answerBy: Answerer.TEAM };
  return succeeded('', { ...event, ...fields, question: { ...whole, formJson: '{}', ...question } } as never) as never;
}

export function closed(event: ReturnType<typeof asked>, fields: { askedPeople?: boolean } = {}): Event {
  const closing = { questionId: event.question.id, reason: 'answered', ...fields };
  return { ...event, outboxId: newId('fld'), seq: 3, event: 'question.closed', closed: closing } as never;
}

export function mailsTo({ server }: Mailing, email: string): ReceivedMail[] {
  return server.mails.filter(({ to }) => to === email);
}

export function mailed(mailing: Mailing, email: string, count = 1): Promise<ReceivedMail[]> {
  return until(`${count} mails to ${email}`, () => {
    const mails = mailsTo(mailing, email);
    return mails.length >= count ? mails : null;
  });
}

export function deliveries({ stack }: Mailing, orgId: OrgId) {
  return stack.database.sql<
    { url: string; status: string; event: string; errors: string[]; answers: string[]; body: string }[]
  >`
    select d.url, d.status, d.event, convert_from(d.body, 'UTF8') as body,
      array(select error from notifier.delivery_tries t where t.org_id = d.org_id and t.delivery_id = d.delivery_id order by try) as errors,
      array(select answer_start from notifier.delivery_tries t where t.org_id = d.org_id and t.delivery_id = d.delivery_id order by try) as answers
    from notifier.deliveries d where d.org_id = ${orgId} order by d.seq, d.url`;
}

/** Waits for at least `count` deliveries, none of which will be tried again. */
export function ended(mailing: Mailing, orgId: OrgId, count: number) {
  return until('all mails ended', async () => {
    const rows = await deliveries(mailing, orgId);
    return rows.length >= count && rows.every(({ status }) => status !== 'pending') ? rows : null;
  });
}

/** The plain part of a mail, its soft line breaks removed. */
export function plain(mail: ReceivedMail | undefined): string {
  return (mail?.raw ?? '').replace(/=\r\n/g, '').replace(/=3D/g, '=');
}

export function tokenIn(mail: ReceivedMail | undefined): string {
  return /https:\/\/methods\.example\/a\/([A-Za-z0-9_-]{43})/.exec(plain(mail))?.[1] ?? '';
}
