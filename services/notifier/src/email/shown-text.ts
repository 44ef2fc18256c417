// Texts of methods and people as a mail shows them: cut, on as many lines as wanted, without characters that hide or
// reorder others.

/** Control characters, and marks that reverse text or have no width. */
const HIDDEN = /[\p{Cc}\p{Cs}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;
const ELLIPSIS = '…';

/** On one line, at most `max` characters. */
export function line(text: string, max: number): string {
  return cut(
    text
      .slice(0, max * 4)
      .replace(HIDDEN, ' ')
      .replace(/\s+/gu, ' ')
      .trim(),
    max,
  );
}

/** Line breaks stay, tabs become spaces. */
export function paragraph(text: string, max: number): string {
  const lines = text.slice(0, max * 4).split(/\r\n|\r|\n/);
  return cut(
    lines
      .map((one) => one.replace(HIDDEN, ' ').trimEnd())
      .join('\n')
      .trim(),
    max,
  );
}

export function html(text: string): string {
  const escaped: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replace(/[&<>"']/g, (character) => escaped[character] ?? '').replaceAll('\n', '<br>');
}

function cut(text: string, max: number): string {
  const characters = [...text];
  return characters.length <= max
    ? text
    : `${characters
        .slice(0, max - 1)
        .join('')
        .trimEnd()}${ELLIPSIS}`;
}
