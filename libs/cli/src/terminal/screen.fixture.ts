// The screen of a terminal after the text written to it, for tests: the subset of a terminal that the commands use.
// Wrapped lines are rewrapped when it is resized, as in most terminals.
import { cellsOf } from '@methods/method/report/terminal-text';

interface Row {
  /** One entry for each column; '' after a wide character. */
  cells: string[];
  /** The line continues in the next row. */
  wrapped: boolean;
}

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: control characters are what this reads
const SEQUENCE = /^\u001b(?:\[([?<>=]?)([0-9;]*)([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[78=>cM])/;
const CONTROL = /(\r|\n|\u0007|\u0008)/;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: see above

export class Screen {
  private rowsAll: Row[] = [{ cells: [], wrapped: false }];
  private row = 0;
  private column = 0;
  private wraps = true;
  private rest = '';
  cursorVisible = true;

  constructor(
    private columns: number,
    private readonly height: number,
  ) {}

  /** Everything printed and not removed, including what has scrolled out. */
  get lines(): string[] {
    const lines = this.rowsAll.map(({ cells }) =>
      Array.from(cells, (cell) => cell ?? ' ')
        .join('')
        .trimEnd(),
    );
    while (lines.at(-1) === '') lines.pop();
    return lines;
  }

  get text(): string {
    return this.lines.join('\n');
  }

  /** Of the line the cursor is in. */
  get cursorLine(): string {
    return (this.rowsAll[this.row]?.cells ?? []).join('');
  }

  write(chunk: string): void {
    let text = this.rest + chunk;
    this.rest = '';
    while (text !== '') {
      if (text.startsWith('\u001b')) {
        const found = SEQUENCE.exec(text);
        if (found === null) {
          // Cut in the middle, or unknown to terminals.
          if (text.length > 32) throw new Error(`no sequence: ${JSON.stringify(text.slice(0, 32))}`);
          this.rest = text;
          return;
        }
        this.act(found);
        text = text.slice(found[0].length);
        continue;
      }
      const end = text.indexOf('\u001b');
      this.print(end < 0 ? text : text.slice(0, end));
      text = end < 0 ? '' : text.slice(end);
    }
  }

  /** The cursor stays at its character. */
  resize(columns: number): void {
    const lines: { cells: string[]; cursor: number | null }[] = [];
    let open: { cells: string[]; cursor: number | null } | null = null;
    this.rowsAll.forEach((row, index) => {
      open ??= { cells: [], cursor: null };
      if (index === this.row) open.cursor = open.cells.length + this.column;
      open.cells.push(...Array.from(row.cells, (cell) => cell ?? ' '));
      if (row.wrapped) return;
      lines.push(open);
      open = null;
    });
    this.columns = columns;
    this.rowsAll = [];
    for (const { cells, cursor } of lines) {
      const first = this.rowsAll.length;
      const rows: Row[] = [];
      for (let at = 0; at === 0 || at < cells.length; at += columns) {
        rows.push({ cells: cells.slice(at, at + columns), wrapped: at + columns < cells.length });
      }
      this.rowsAll.push(...rows);
      if (cursor === null) continue;
      this.row = first + Math.min(rows.length - 1, Math.floor(cursor / columns));
      this.column = cursor % columns;
    }
  }

  private print(text: string): void {
    for (const part of text.split(CONTROL)) {
      if (part === '\r') this.column = 0;
      else if (part === '\n') this.down();
      else if (part === '\u0008') this.column = Math.max(0, this.column - 1);
      else if (part !== '\u0007') for (const cell of cellsOf(part)) this.put(cell.text, cell.width);
    }
  }

  private put(text: string, width: number): void {
    if (width === 0) return;
    if (this.column + width > this.columns) {
      if (this.wraps) {
        this.at(this.row).wrapped = true;
        this.down();
        this.column = 0;
      } else this.column = this.columns - width;
    }
    const { cells } = this.at(this.row);
    while (cells.length < this.column) cells.push(' ');
    cells[this.column] = text;
    if (width === 2) cells[this.column + 1] = '';
    this.column += width;
  }

  private down(): void {
    this.row++;
    this.at(this.row);
  }

  private at(row: number): Row {
    while (this.rowsAll.length <= row) this.rowsAll.push({ cells: [], wrapped: false });
    return this.rowsAll[row] as Row;
  }

  private act([, mark = '', numbers = '', final]: RegExpExecArray): void {
    if (final === undefined || final === 'm') return;
    const [first = 0] = numbers.split(';').map(Number);
    const count = Math.max(1, first);
    if (mark === '?') {
      if (first === 25) this.cursorVisible = final === 'h';
      if (first === 7) this.wraps = final === 'h';
      return;
    }
    // The top of what is visible; what scrolled out cannot be reached.
    const top = Math.max(0, this.rowsAll.length - this.height);
    const row = this.at(this.row);
    switch (final) {
      case 'A':
        this.row = Math.max(top, this.row - count);
        return;
      case 'B':
        this.row = Math.min(this.rowsAll.length - 1, this.row + count);
        return;
      case 'C':
        this.column = Math.min(this.columns - 1, this.column + count);
        return;
      case 'D':
        this.column = Math.max(0, this.column - count);
        return;
      case 'G':
        this.column = count - 1;
        return;
      case 'K':
        row.cells = first === 0 ? row.cells.slice(0, this.column) : [];
        return;
      case 'J':
        row.cells = row.cells.slice(0, this.column);
        row.wrapped = false;
        this.rowsAll.length = this.row + 1;
        return;
      default:
        throw new Error(`the screen does not know CSI ${mark}${numbers}${final}`);
    }
  }
}
