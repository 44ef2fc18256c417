// A cell of a CSV file (RFC 4180) that no spreadsheet takes for a formula.

/** A text that begins like a formula gets an apostrophe in front, which spreadsheets do not show. */
export function csvCell(value: string | number): string {
  const text = String(value);
  const plain = typeof value === 'string' && /^[\s]*[=+\-@\t\r|%]/.test(text) ? `'${text}` : text;
  return /[",\r\n]|^\s|\s$/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

export function csvLine(cells: readonly (string | number)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}
