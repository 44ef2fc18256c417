// The pages of the development mailbox: a list of mails, and one of them. They need no script.
import type { ReadMail } from './read-mail.ts';

export interface KeptMail extends ReadMail {
  readonly id: number;
  readonly at: Date;
}

/** Newest first. */
export function listPage(mails: readonly KeptMail[]): string {
  const rows = mails.map(
    ({ id, at, to, subject }) =>
      `<li><a href="/mails/${id}">${escaped(subject)}</a><br><small>${escaped(to)}, ${time(at)}</small></li>`,
  );
  const empty = '<p>No mail has come yet. Reload this page when a question has been asked.</p>';
  return page('Mail of this stack', rows.length === 0 ? empty : `<ol reversed>${rows.join('\n')}</ol>`);
}

export function mailPage({ id, at, from, to, subject, text, html }: KeptMail): string {
  const rich = html === '' ? '' : ` <a href="/mails/${id}/html">As HTML</a>`;
  return page(
    subject,
    `<p><a href="/">All mails</a>${rich}</p>
<dl><dt>From</dt><dd>${escaped(from)}</dd><dt>To</dt><dd>${escaped(to)}</dd><dt>At</dt><dd>${time(at)}</dd></dl>
<pre>${linked(text)}</pre>`,
  );
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<style>
body { max-width: 45rem; margin: 2rem auto; padding: 0 1rem; font: 16px/24px system-ui, sans-serif; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; }
li { margin-bottom: 1rem; }
dt { float: left; width: 4rem; }
</style>
</head>
<body>
<h1>${escaped(title)}</h1>
${body}
</body>
</html>
`;
}

function linked(text: string): string {
  return escaped(text).replace(/https?:\/\/[^\s<>&"']+/g, (url) => `<a href="${url}" rel="noreferrer">${url}</a>`);
}

function escaped(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

function time(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
