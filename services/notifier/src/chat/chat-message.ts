// Builds the message of a delivery to a chat, in the format of Slack or Teams, at each try: its link is a secret that
// no stored body holds.
import type { ClaimedDelivery } from '../delivery/delivery.ts';
import type { EndpointFormat } from '../delivery/endpoint-target.ts';
import { type ChatContext, type ChatNotice, chatNotice } from './chat-notice.ts';

/** For a block's text. */
const TEXT_MAX = 3_000;

/** Formats a notice for Slack's incoming webhooks: blocks, and a plain text for notifications. */
function slackMessage({ title, text, details, facts, button }: ChatNotice) {
  const first = text === '' ? title : `${title}: ${text}`;
  return {
    text: escaped(first),
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'section', text: mrkdwn(`*${escaped(title)}*`) },
      ...[text, details]
        .filter((one) => one.trim() !== '')
        .map((one) => ({ type: 'section', text: mrkdwn(literal(one)) })),
      ...inTens(facts).map((some) => ({
        type: 'section',
        fields: some.map(({ name, value }) => mrkdwn(`*${literal(name)}*\n${literal(value) || '–'}`)),
      })),
      ...(button === null ? [] : [{ type: 'actions', elements: [answerButton(button)] }]),
    ],
  };
}

function answerButton({ label, url }: { readonly label: string; readonly url: string }) {
  return { type: 'button', style: 'primary', text: { type: 'plain_text', text: label }, url, action_id: 'answer' };
}

/** `verbatim`: names and addresses in a text become neither mentions nor links. */
function mrkdwn(text: string) {
  return { type: 'mrkdwn', verbatim: true, text: text.slice(0, TEXT_MAX) };
}

/**
 * Shows text unchanged: an invisible character before each formatting sign keeps the signs from pairing. A `_` within a
 * word has no meaning and is left, so that a copied id stays valid.
 */
function literal(text: string): string {
  return escaped(text).replace(/[*~`]|(?<![a-z0-9])_|_(?![a-z0-9])|^(?:&gt;|>)/gim, (sign) => `\u200b${sign}`);
}

/** Slack interprets only these three: they would begin links, mentions and commands. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A section has at most 10 fields. */
function inTens<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / 10) }, (_, i) => items.slice(i * 10, i * 10 + 10));
}

export type ChatFormat = Exclude<EndpointFormat, 'webhook'>;

const MESSAGES = { slack: slackMessage, teams: teamsMessage } as const;

export interface ChatMessage {
  readonly body: Buffer;
  /** Parts that a chat may repeat in its answer, and that no one else may see. */
  readonly secrets: readonly string[];
}

/** `answerUrl`: where the delivery's question is answered; null: nowhere. */
export function chatMessage(
  { body }: Pick<ClaimedDelivery, 'body'>,
  format: ChatFormat,
  context: ChatContext,
  answerUrl: string | null,
  nowMs: number,
): ChatMessage {
  const token = answerUrl?.split('/a/')[1];
  return {
    body: Buffer.from(JSON.stringify(MESSAGES[format](chatNotice(body, context, answerUrl, nowMs))), 'utf8'),
    secrets: token === undefined ? [] : [token],
  };
}

/**
 * Formats a notice for the webhooks of Teams workflows: an adaptive card. Its texts are runs of a rich text, which
 * unlike text blocks and facts have no Markdown, so nothing needs escaping.
 */
function teamsMessage({ title, text, details, facts, button }: ChatNotice) {
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    fallbackText: title,
    body: [
      rich({ type: 'TextRun', text: title, weight: 'Bolder', size: 'Medium' }),
      ...[text, details].filter((one) => one.trim() !== '').map((one) => rich({ type: 'TextRun', text: one })),
      ...facts.map(({ name, value }) =>
        rich({ type: 'TextRun', text: `${name}: `, weight: 'Bolder' }, { type: 'TextRun', text: value }),
      ),
    ],
    actions: button === null ? [] : [{ type: 'Action.OpenUrl', title: button.label, url: button.url }],
  };
  const card = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content };
  return { type: 'message', attachments: [card] };
}

function rich(...inlines: readonly object[]) {
  return { type: 'RichTextBlock', inlines };
}
