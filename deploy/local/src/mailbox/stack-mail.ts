// Decides where the mail of a stack is sent: to the server of the environment, else to a mailbox of this process; and
// which admin gets the mail of the examples.

import { newId, type OrgId } from '@methods/base/ids';
import { openPool } from '@methods/postgres/pool';
import { accountOf } from '../identity/account.ts';
import { Mailbox } from './mailbox.ts';

export interface StackMail {
  /** Settings of the notifier; none: no mail is sent. */
  readonly environment: Readonly<Record<string, string>>;
  /** Where mails are read; null: not here. */
  readonly pageUrl: string | null;
  stop(): Promise<void>;
}

export async function startMail(wanted: boolean): Promise<StackMail> {
  const MAIL_FROM = process.env.MAIL_FROM || 'Methods <methods@local.example>';
  const outside = process.env.SMTP_URL;
  if (outside || !wanted) {
    return { environment: outside ? { SMTP_URL: outside, MAIL_FROM } : {}, pageUrl: null, stop: async () => {} };
  }
  const mailbox = new Mailbox();
  const { smtpUrl, pageUrl } = await mailbox.start();
  return { environment: { SMTP_URL: smtpUrl, MAIL_FROM }, pageUrl, stop: () => mailbox.stop() };
}

/**
 * The admin whose address gets the mail about the examples' questions until people have signed in. They do not count as
 * the first person: the first who signs in is an admin too.
 */
export const DEVELOPMENT_ADMIN = 'admin@local.example';
const STATEMENT_TIMEOUT_MS = 10_000;

/** The person that the stack's identity provider signs in by this address, in the organization "Local". */
export async function ensureDevelopmentAdmin(postgresUrl: string, orgId: OrgId): Promise<void> {
  const { accountId, email, name } = accountOf({ email: DEVELOPMENT_ADMIN, organization: 'Local', role: 'admin' });
  const applicationName = 'local-stack';
  const sql = openPool({ url: postgresUrl, applicationName, max: 1, statementTimeoutMs: STATEMENT_TIMEOUT_MS });
  try {
    await sql`
      insert into registry.users (org_id, user_id, subject, email, email_verified, name, first_role)
      values (${orgId}, ${newId('usr')}, ${accountId}, ${email}, true, ${name}, 'admin')
      on conflict on constraint users_subject_key do nothing`;
  } finally {
    await sql.end({ timeout: 5 });
  }
}
