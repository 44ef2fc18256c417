// The document around a page's content, and the headers that keep its address secret.
import { randomBytes } from 'node:crypto';
import { cutText } from '@methods/method/cut-text';
import { Html, html } from './html.ts';
import { SCRIPT, STYLE } from './page-style.ts';

export interface PageContent {
  readonly status: number;
  readonly title: string;
  /** The organization; empty: the page is about no question. */
  readonly about: string;
  readonly main: Html;
}

export interface WrittenPage {
  readonly text: string;
  /** The scripts and styles that this page may use. */
  readonly policy: string;
}

const TITLE_CHARACTERS_MAX = 80;

/** A page runs and loads only its own style and script, is shown in no frame, and sends forms only to itself. */
export function writePage({ title, about, main }: PageContent): WrittenPage {
  const nonce = randomBytes(16).toString('base64');
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${cutText(title.replaceAll(/\s+/g, ' '), TITLE_CHARACTERS_MAX)}</title>
<style nonce="${nonce}">${new Html(STYLE)}</style>
</head>
<body>
<header><bdi>${about === '' ? 'Methods' : about}</bdi></header>
<main>
${main}
</main>
<script nonce="${nonce}">${new Html(SCRIPT)}</script>
</body>
</html>
`;
  const policy = [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    `script-src 'nonce-${nonce}'`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  return { text: page.text, policy };
}
