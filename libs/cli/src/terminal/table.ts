// Rows in aligned columns, one line each, for lists on a terminal and in a pipe.
import { cellsOf } from '@methods/method/report/terminal-text';
import type { Output } from './output.ts';
import { cutToWidth, plainText } from './plain-text.ts';

const GAP = '  ';

/**
 * Returns lines without their ends, the first of them the titles; none without rows. Cells are made safe for a
 * terminal; the last column is cut if the line is longer than `columns`, undefined: never.
 */
export function table(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  columns: number | undefined,
): string[] {
  if (rows.length === 0) return [];
  const all = [titles, ...rows].map((row) => row.map((cell) => plainText(cell).replaceAll('\n', ' ')));
  const widths = titles.map((_, i) => Math.max(...all.map((row) => widthOf(row[i] ?? ''))));
  return all.map((row) => {
    const cells = titles.map((_, i) => padded(row[i] ?? '', i === titles.length - 1 ? 0 : (widths[i] ?? 0)));
    const line = cells.join(GAP).trimEnd();
    return columns === undefined ? line : cutToWidth(line, columns);
  });
}

function padded(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - widthOf(cell)));
}

function widthOf(text: string): number {
  let width = 0;
  for (const cell of cellsOf(text)) width += cell.width;
  return width;
}

export function tableWidth(output: Output): number | undefined {
  return output.streams.stdout.isTTY ? output.columns : undefined;
}
