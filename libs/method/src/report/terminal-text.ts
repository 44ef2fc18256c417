// Owns text as a terminal shows it: cells a character takes, and characters that would move the cursor or reorder a line.

/** A character as a reader sees it, with its place in the text and its width in terminal cells. */
export interface Cell {
  readonly text: string;
  /** Offset in UTF-16 units. */
  readonly at: number;
  readonly width: number;
}

const TAB_CELLS = 4;
// Beside control characters the marks that reorder a line (U+202A and on): shown, they could hide what a line says.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to replace
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
const WIDE =
  /^(?:[\u1100-\u115f\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Script=Bopomofo}|\p{Script=Yi})/u;
const HALF_KATAKANA = /^[\uff61-\uff9f]/;
const EMPTY = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;

// Made at its first use: it takes 10 ms, and most commands cut no line.
let segmenter: Intl.Segmenter | undefined;

/** The text on one line, every character that could act on a terminal replaced. */
export function plainLine(text: string): string {
  return text.replace(UNSAFE, '\ufffd');
}

/** The cells of a line; tabs become spaces up to the next stop. */
export function cellsOf(line: string): Cell[] {
  const cells: Cell[] = [];
  let column = 0;
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  for (const { segment, index } of segmenter.segment(line)) {
    const width = segment === '\t' ? TAB_CELLS - (column % TAB_CELLS) : widthOf(segment);
    cells.push({ text: segment === '\t' ? ' '.repeat(width) : plainLine(segment), at: index, width });
    column += width;
  }
  return cells;
}

function widthOf(character: string): number {
  if (EMPTY.test(character)) return 0;
  // U+FE0F asks for the picture form, which is two cells wide.
  if (character.includes('\ufe0f')) return 2;
  return WIDE.test(character) && !HALF_KATAKANA.test(character) ? 2 : 1;
}
