// Builds HTML from parts: every text is escaped unless it was built here.

export class Html {
  constructor(readonly text: string) {}
}

export type HtmlPart = Html | string | number | null | readonly HtmlPart[];

/** For text that people read: replaces characters that act on a page or reverse other text. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlPart[]): Html {
  let text = parts[0] ?? '';
  for (let at = 0; at < values.length; at++) text += written(values[at] ?? null) + (parts[at + 1] ?? '');
  return new Html(text);
}

/** For a name or a value of a control, which must come back unchanged. */
export function exact(text: string): Html {
  if (PLAIN.test(text)) return new Html(text);
  return new Html(text.replaceAll(SPECIAL, (character) => ENTITIES[character] ?? character));
}

function written(part: HtmlPart): string {
  if (part === null) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'number') return String(part);
  if (typeof part === 'string') return PLAIN.test(part) ? part : exact(part.replaceAll(ACTING, '\ufffd')).text;
  let text = '';
  for (const each of part) text += written(each);
  return text;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '\r': '&#13;',
  '\0': '\ufffd',
};
/** Matches most texts: searching them for more takes ten times as long. */
const PLAIN = /^[\t\n !#-%(-;=?-~]*$/;
const SPECIAL = /[&<>"'\r\0]/g;

// Control characters except tab and line feed, characters that turn the text after them around, and halves of pairs.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const ACTING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u{fff9}-\u{fffb}]|\p{Surrogate}/gu;
