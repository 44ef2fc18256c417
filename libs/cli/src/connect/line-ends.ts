// Adds lines to other tools' files, with their line ends. Texts are latin1, so that every byte is kept.

/** Returns the line end that the text uses. */
function lineEndOf(text: string): '\n' | '\r\n' {
  return /\r\n/.test(text) ? '\r\n' : '\n';
}

/** The text with the line as its last one, each on a line of its own. */
export function withLine(text: string, line: string): string {
  const end = lineEndOf(text);
  const before = text === '' || text.endsWith('\n') ? text : `${text}${end}`;
  return `${before}${line}${end}`;
}
