// The message of a delivery to a chat, made at each try: its link is a secret, which no stored body holds.
import type { ClaimedDelivery } from '../delivery/delivery.ts';
import type { EndpointFormat } from '../delivery/endpoint-target.ts';
import { chatNotice } from './chat-notice.ts';
import { slackMessage } from './slack-message.ts';
import { teamsMessage } from './teams-message.ts';

export type ChatFormat = Exclude<EndpointFormat, 'webhook'>;

const MESSAGES = { slack: slackMessage, teams: teamsMessage } as const;

export interface ChatMessage {
  readonly body: Buffer;
  /** What a chat may repeat in its answer, and no one else may see. */
  readonly secrets: readonly string[];
}

/** `answerUrl`: where the delivery's question is answered; null: there is none. */
export function chatMessage(
  { body }: Pick<ClaimedDelivery, 'body'>,
  format: ChatFormat,
  answerUrl: string | null,
): ChatMessage {
  const token = answerUrl?.split('/a/')[1];
  return {
    body: Buffer.from(JSON.stringify(MESSAGES[format](chatNotice(body, answerUrl))), 'utf8'),
    secrets: token === undefined ? [] : [token],
  };
}
