// The content of a chat message: the stored body of an event in a few short texts, for any chat, and what the registry
// knows beside it. Caller text is cut here and escaped by the chat's format.

import type { MethodId, OrgId } from '@methods/base/ids';
import { zonedTime } from '@methods/base/zoned-time';
import type { AccountService } from '@methods/proto/registry/v1/account_service_pb';
import type { Client } from '@methods/rpc/client';
import type { ClaimedDelivery } from '../delivery/delivery.ts';
import type { EventName } from '../delivery/run-event.ts';

export interface ChatNotice {
  readonly title: string;
  /** The question, or why the run failed. Empty: there is nothing to add. */
  readonly text: string;
  readonly details: string;
  readonly facts: readonly { readonly name: string; readonly value: string }[];
  readonly button: { readonly label: string; readonly url: string } | null;
}

/** The members of a webhook's body that a chat shows. */
interface EventBody {
  readonly event: EventName;
  readonly run_id: string;
  readonly method: string;
  readonly question?: {
    readonly step: string;
    readonly prompt: string;
    readonly details?: string;
    readonly show?: readonly { readonly path: string; readonly value: unknown }[];
    readonly deadline_at: string | null;
  };
  readonly error?: { readonly message: string; readonly step?: string };
  readonly on_device?: true;
}

/** Together below the 28 KB of one chat and the 3,000 characters of a text of the other, escaped and in any script. */
const TEXT_MAX = 700;
const FACT_MAX = 120;
const SHOWN_MAX = 6;

const TITLES: Readonly<Record<EventName, string>> = {
  needs_input: 'A question waits for an answer',
  'question.reminded': 'A question still waits for an answer',
  'question.escalated': 'A question was escalated',
  succeeded: 'A run succeeded',
  failed: 'A run failed',
  cancelled: 'A run was cancelled',
};

/** `answerUrl`: where the question is answered; null: nowhere. */
export function chatNotice(
  body: Buffer,
  { methodName, timeZone, contentOnDevices }: ChatContext,
  answerUrl: string | null,
  nowMs: number,
): ChatNotice {
  const {
    event,
    run_id: runId,
    method,
    on_device: onDevice,
    ...content
  } = JSON.parse(body.toString('utf8')) as EventBody;
  const { question, error } = contentOnDevices || onDevice ? withoutContent(content) : content;
  const step = question?.step ?? error?.step ?? '';
  const deadline = question?.deadline_at ?? null;
  const shown = (question?.show ?? []).slice(0, SHOWN_MAX);
  return {
    title: TITLES[event],
    text: cut(question?.prompt ?? error?.message ?? '', TEXT_MAX),
    details: cut(question?.details ?? '', TEXT_MAX),
    facts: [
      ...shown.map(({ path, value }) => ({ name: cut(path, FACT_MAX), value: cut(valueText(value), FACT_MAX) })),
      { name: 'Method', value: cut(methodName || method, FACT_MAX) },
      ...(step === '' ? [] : [{ name: 'Step', value: cut(step, FACT_MAX) }]),
      { name: 'Run', value: runId },
      ...(deadline === null ? [] : [{ name: 'Answer by', value: zonedTime(Date.parse(deadline), timeZone, nowMs) }]),
    ],
    button: question === undefined || answerUrl === null ? null : { label: 'Answer', url: answerUrl },
  };
}

function withoutContent({
  question,
  error,
}: Pick<EventBody, 'question' | 'error'>): Pick<EventBody, 'question' | 'error'> {
  return {
    ...(question && { question: { step: question.step, prompt: '', deadline_at: question.deadline_at } }),
    ...(error && { error: { ...error, message: '' } }),
  };
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value);
  } catch {
    // Node before 26 writes no value of thousands of levels, although it reads one.
    return '…';
  }
}

/** Removes control characters and those that reverse the direction of text. */
function cut(text: string, max: number): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  const plain = text.slice(0, max * 4).replace(/[\u0000-\u0009\u000b-\u001f\u007f\u202a-\u202e\u2066-\u2069]/g, ' ');
  const characters = [...plain];
  return characters.length <= max ? plain : `${characters.slice(0, max - 1).join('')}…`;
}

/** What the registry knows of a delivery's method and organization that its stored body does not say. */
export interface ChatContext {
  /** Empty: there is no such method. */
  readonly methodName: string;
  /** IANA name. */
  readonly timeZone: string;
  /** The organization's content is end to end encrypted: a chat gets none of it. */
  readonly contentOnDevices: boolean;
}

/** Names no address and no role, so the registry looks up no one. */
const NO_ONE = ['-'];

export async function askChatContext(
  accounts: Pick<Client<typeof AccountService>, 'listRecipients'>,
  orgId: OrgId,
  methodId: MethodId,
  timeoutMs: number,
): Promise<ChatContext> {
  return accounts.listRecipients({ orgId, methodId, to: NO_ONE }, { timeoutMs });
}

export function methodOf({ body }: Pick<ClaimedDelivery, 'body'>): MethodId {
  return (JSON.parse(body.toString('utf8')) as { readonly method: MethodId }).method;
}
