// The document around a page's content, and the headers that keep its address secret.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
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

interface WrittenPage {
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

// Proves that a post comes from a page that this visitor was shown a short time ago. Derived from the link's token,
// which no one else knows, so that no gateway stores the pages it showed.
const HOUR_MS = 3_600_000;
/** A page is valid for the hour in which it was made, and for this many more. */
const HOURS_MORE = 3;

interface NonceOf {
  readonly token: string;
  /** What the page shows: the form, or the answer to confirm. */
  readonly shown: readonly string[];
}

export function pageNonce({ token, shown }: NonceOf, nowMs: number): string {
  return nonceAt(token, shown, Math.floor(nowMs / HOUR_MS));
}

export function isPageNonce(nonce: string, { token, shown }: NonceOf, nowMs: number): boolean {
  const given = Buffer.from(nonce);
  const hour = Math.floor(nowMs / HOUR_MS);
  for (let back = 0; back <= HOURS_MORE; back++) {
    const expected = Buffer.from(nonceAt(token, shown, hour - back));
    if (given.length === expected.length && timingSafeEqual(given, expected)) return true;
  }
  return false;
}

function nonceAt(token: string, shown: readonly string[], hour: number): string {
  return createHmac('sha256', token)
    .update(JSON.stringify(['answer-page', hour, ...shown]))
    .digest('base64url');
}
