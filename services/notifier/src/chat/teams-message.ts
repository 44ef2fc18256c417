// A notice as the webhooks of Teams workflows take it: an adaptive card. Texts are runs of a rich text, which unlike text
// blocks and facts know no Markdown, so nothing in them needs escaping.
import type { ChatNotice } from './chat-notice.ts';

export function teamsMessage({ title, text, details, facts, button }: ChatNotice) {
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
