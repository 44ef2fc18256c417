// Where the mail of a stack goes: to the server of the environment, else to a mailbox of this process.
import { Mailbox } from './mailbox.ts';

export interface StackMail {
  /** Settings of the notifier; none: no mail goes out. */
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
