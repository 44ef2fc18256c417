// The content of a mail: subject, plain text and HTML of the same sentences. Pure: the same job and link always give
// the same mail, also when it is sent again.

import { zonedTime } from '@methods/base/zoned-time';
import type { QuestionEvent } from '../delivery/run-event.ts';
import type { MailedMethod, MailedQuestion, MailRecipient, QuestionMail } from './mail-job.ts';
import { html, line, paragraph } from './shown-text.ts';

export interface MailText {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface LinkedMail {
  readonly method: MailedMethod;
  readonly question: MailedQuestion;
  readonly link: string;
}

const NAME_MAX = 80;
const SUBJECT_PROMPT_MAX = 120;
const DIGEST_PROMPT_MAX = 200;
const PROMPT_MAX = 2_000;
const SHOWN_MAX = 300;

const BEFORE: Readonly<Record<QuestionEvent, string>> = {
  needs_input: '',
  'question.reminded': 'Reminder: ',
  'question.escalated': 'Escalated: ',
};

/** The mail about one question. */
export function questionMail(
  mail: LinkedMail & Pick<QuestionMail, 'event' | 'assignedBy' | 'recipient'>,
  nowMs: number,
): MailText {
  const { event, assignedBy, recipient, method, question, link } = mail;
  const [name, organization] = [line(method.name, NAME_MAX), line(method.orgName, NAME_MAX)];
  const before = assignedBy === undefined ? BEFORE[event] : 'Assigned to you: ';
  const why = assignedBy
    ? `You get this because ${line(assignedBy, NAME_MAX)} has given you the question.`
    : becauseOf(recipient, organization);
  if (method.contentOnDevices) {
    const waits = `A question waits on run ${question.runId} in ${organization}.`;
    return page(`${before}A question waits in ${organization}`, [
      { text: waits },
      ...closes(question, method, nowMs),
      { text: why, small: true },
    ]);
  }
  const details = paragraph(question.details, PROMPT_MAX);
  return page(`${before}${name} asks: ${line(question.prompt, SUBJECT_PROMPT_MAX)}`, [
    { text: `A run of ${name} in ${organization} waits for your answer.` },
    { text: paragraph(question.prompt, PROMPT_MAX), strong: true },
    ...(details === '' ? [] : [{ text: details }]),
    ...question.show.map(({ path, text }) => ({
      text: `${line(path, SHOWN_MAX)}: ${line(text, SHOWN_MAX)}`,
      small: true,
    })),
    { link, label: 'Look and answer' },
    ...closes(question, method, nowMs),
    { text: ONCE },
    { text: why, small: true },
  ]);
}

/** One mail about many questions; `more`: there are further ones. */
export function digestMail(
  recipient: MailRecipient,
  questions: readonly LinkedMail[],
  more: boolean,
  publicUrl: string,
  nowMs: number,
): MailText {
  const organization = line(questions[0]?.method.orgName ?? '', NAME_MAX);
  const count = `${more ? 'More than ' : ''}${questions.length} question${questions.length === 1 ? '' : 's'}`;
  const waits = `${count} in ${organization} ${questions.length === 1 ? 'waits' : 'wait'} for your answer`;
  return page(waits, [
    { text: `${waits}. They come in one mail because there are many.` },
    ...questions.flatMap(({ method, question, link }): Block[] =>
      method.contentOnDevices
        ? [{ text: `A question waits on run ${question.runId}.` }, ...closes(question, method, nowMs)]
        : [
            { text: `${line(method.name, NAME_MAX)} asks: ${line(question.prompt, DIGEST_PROMPT_MAX)}` },
            ...closes(question, method, nowMs),
            { link, label: 'Look and answer' },
          ],
    ),
    ...(more ? [{ text: `You find all of them at ${publicUrl}` }] : []),
    { text: 'Anyone with these links can answer once: do not forward them.' },
    { text: becauseOf(recipient, organization), small: true },
  ]);
}

const ONCE = 'Anyone with this link can answer once: do not forward it.';

function becauseOf({ reason }: MailRecipient, organization: string): string {
  switch (reason) {
    case 'publisher':
      return 'You get this because you last published the method.';
    case 'named':
      return 'You get this because the question is for you.';
    case 'admin':
      return `You get this because you are an admin of ${organization}.`;
  }
}

function closes({ deadlineAtMs, answersItself }: MailedQuestion, { timeZone }: MailedMethod, nowMs: number): Block[] {
  if (deadlineAtMs === 0) return [];
  const after = answersItself ? 'the method answers itself' : 'the run fails';
  return [{ text: `By ${zonedTime(deadlineAtMs, timeZone, nowMs)}; after that ${after}.` }];
}

type Block =
  | { readonly text: string; readonly strong?: boolean; readonly small?: boolean }
  | { readonly link: string; readonly label: string };

/** Nothing external is loaded, and the style suits phones first, in light and dark mode. */
function page(subject: string, blocks: readonly Block[]): MailText {
  const text = blocks.map((block) => ('link' in block ? `${block.label}: ${block.link}` : block.text)).join('\n\n');
  const body = blocks.map((block) => ('link' in block ? button(block) : textHtml(block))).join('\n');
  return {
    subject,
    text: `${text}\n`,
    html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${html(subject)}</title>
<style>
:root { color-scheme: light dark; }
body { margin: 0; padding: 24px 16px; background: #ffffff; color: #1b1f26; font: 16px/24px system-ui, sans-serif; }
main { max-width: 560px; margin: 0 auto; overflow-wrap: anywhere; }
p { margin: 0 0 16px; }
.strong { font-weight: 600; font-size: 18px; }
.small { color: #565f6d; font-size: 14px; line-height: 20px; }
.button { display: inline-block; padding: 12px 24px; border-radius: 6px; background: #4b4acf; color: #ffffff; font-weight: 600; text-decoration: none; }
@media (prefers-color-scheme: dark) {
  body { background: #111418; color: #e8ebf0; }
  .small { color: #a6afbd; }
  .button { background: #a5a8ff; color: #111418; }
}
</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`,
  };
}

function button({ link, label }: { readonly link: string; readonly label: string }): string {
  return `<p><a class="button" href="${html(link)}">${html(label)}</a></p>`;
}

function textHtml({
  text,
  strong,
  small,
}: {
  readonly text: string;
  readonly strong?: boolean;
  readonly small?: boolean;
}) {
  const kind = strong ? ' class="strong"' : small ? ' class="small"' : '';
  return `<p${kind}>${html(text)}</p>`;
}
