// The sender, recipient and id of a mail. A mail that is sent again keeps its id, so that a mailbox that got it twice
// shows it once.
import { createHash } from 'node:crypto';
import type { DeliveryId, OrgId, QuestionId } from '@methods/base/ids';

interface MailThread {
  readonly orgId: OrgId;
  /** The question; for a mail about several, its delivery. */
  readonly id: QuestionId | DeliveryId;
  /** An address. */
  readonly recipient: string;
  /** Empty for the first mail of a question; a later one, such as a reminder, has a separate id. */
  readonly part: string;
}

const ADDRESS_CHARACTERS_MAX = 254;
/** Matches addresses that need no quotes; white space and control characters do not match. */
const ADDRESS = /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~.-]{1,64}@[\p{L}\p{N}.-]{1,253}$/u;

/** Reports whether mail may be addressed to it. A line break, a comma or a bracket would add headers or people. */
export function isMailAddress(text: string): boolean {
  return (
    text.length <= ADDRESS_CHARACTERS_MAX && ADDRESS.test(text) && !text.includes('..') && !/@[.-]|[.-]$/.test(text)
  );
}

/** `domain`: the sender's. */
export function messageId({ orgId, id, recipient, part }: MailThread, domain: string): string {
  const named = JSON.stringify([orgId, id, recipient, part]);
  return `<${createHash('sha256').update(named).digest('hex').slice(0, 40)}@${domain}>`;
}

/** Every mail states that a program wrote it, so that no program answers it. */
export const AUTOMATIC: Readonly<Record<string, string>> = {
  'Auto-Submitted': 'auto-generated',
  'X-Auto-Response-Suppress': 'All',
};
