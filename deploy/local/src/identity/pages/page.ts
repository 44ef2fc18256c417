// The frame of every page of the provider: plain HTML without scripts, with all external text escaped.
import { createHash } from 'node:crypto';

/** Text that is HTML already; only `html` makes it. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = string | Html | readonly Html[] | null;

/** A template: every value in it is escaped unless it is Html. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.map((text, at) => (at === 0 ? text : textOf(parts[at - 1] ?? null) + text)).join(''));
}

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 26rem; margin: 8vh auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; }
label { display: block; margin: 1rem 0 0.25rem; font-weight: 600; }
input, select, button { font: inherit; padding: 0.5rem; border: 1px solid #8888; border-radius: 6px; box-sizing: border-box; }
input, select { width: 100%; }
button { margin: 1.25rem 0.5rem 0 0; padding: 0.5rem 1.25rem; cursor: pointer; }
button.main { background: #2453c4; border-color: #2453c4; color: #fff; }
code { font-size: 1.1em; overflow-wrap: anywhere; }
.code { font-size: 2rem; letter-spacing: 0.1em; }
.note { border-left: 4px solid #c98500; padding-left: 0.75rem; }
.fault { border-left: 4px solid #c4242f; padding-left: 0.75rem; }
`;

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

export function page(title: string, body: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${body}
<p class="note">This is the identity provider of a development stack. It checks no password and believes what is typed.</p>
</main>
</body>
</html>
`.text;
}

/**
 * For every reply of the provider; the library adds the hash of its own page's script to a page that submits itself.
 */
export const CONTENT_POLICY = policy('');

/**
 * For a page whose form goes to this provider and is redirected to `targets`: browsers check both addresses against it.
 */
export function formPolicy(targets: readonly string[]): string {
  return policy(`; form-action ${["'self'", ...targets.map(sourceOf)].join(' ').trim()}`);
}

function policy(more: string): string {
  return `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; script-src 'none'; base-uri 'none'; frame-ancestors 'none'${more}`;
}

/** The origin of http addresses, the scheme of others; nothing of an address that could end the directive. */
function sourceOf(target: string): string {
  if (!URL.canParse(target)) return '';
  const { protocol, origin } = new URL(target);
  if (protocol !== 'http:' && protocol !== 'https:') return /^[a-z][a-z0-9+.-]*:$/.test(protocol) ? protocol : '';
  return /^https?:\/\/[a-z0-9.:[\]-]+$/.test(origin) ? origin : '';
}

function textOf(part: Part): string {
  if (part === null) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'string') return part.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
  return part.map(({ text }) => text).join('\n');
}
