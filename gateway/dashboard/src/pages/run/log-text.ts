// A log as lines of styled parts: the escapes of terminals become styles, or are left out. Pure.

export interface LogPart {
  readonly text: string;
  /** A colour of the sixteen, in words like `red`; null: that of the text. */
  readonly colour: Colour | null;
  readonly isBold: boolean;
}

export type Colour = (typeof COLOURS)[number];
const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;
const ESCAPES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals are controlled by such characters
  /\u001b\[([0-9;:]{0,64})([ -/]*[@-~])|\u001b\][^\u0007\u001b]{0,2048}(?:\u0007|\u001b\\)|\u001b[ -/]*[0-~]?/g;

/** Styles last over line ends, as on a terminal. */
export function logLines(text: string): LogPart[][] {
  let style: Omit<LogPart, 'text'> = { colour: null, isBold: false };
  const lines: LogPart[][] = [[]];
  const add = (piece: string) => {
    for (const [at, line] of piece.split(/\r?\n/).entries()) {
      if (at > 0) lines.push([]);
      if (line !== '') lines.at(-1)?.push({ text: line, ...style });
    }
  };
  let from = 0;
  for (const found of text.matchAll(ESCAPES)) {
    add(text.slice(from, found.index));
    from = found.index + found[0].length;
    if (found[2] === 'm') style = styled(style, found[1] ?? '');
  }
  add(text.slice(from));
  return lines;
}

function styled(style: Omit<LogPart, 'text'>, codes: string): Omit<LogPart, 'text'> {
  let { colour, isBold } = style;
  const numbers = codes.split(/[;:]/).map(Number);
  for (let at = 0; at < numbers.length; at++) {
    const code = numbers[at] ?? 0;
    if (code === 0) [colour, isBold] = [null, false];
    else if (code === 1) isBold = true;
    else if (code === 22) isBold = false;
    else if (code === 39) colour = null;
    else if (code >= 30 && code <= 37) colour = COLOURS[code - 30] ?? null;
    else if (code >= 90 && code <= 97) colour = COLOURS[code - 90] ?? null;
    // Colours of 256 and of 24 bits: the text keeps its own.
    else if (code === 38 || code === 48) at += numbers[at + 1] === 2 ? 4 : 2;
  }
  return { colour, isBold };
}

/** The lines that contain the text, in any case; an empty text: all. */
export function linesWith(lines: readonly (readonly LogPart[])[], text: string) {
  const wanted = text.toLowerCase();
  const numbered = lines.map((parts, at) => ({ number: at + 1, parts }));
  if (wanted === '') return numbered;
  return numbered.filter(({ parts }) =>
    parts
      .map((part) => part.text)
      .join('')
      .toLowerCase()
      .includes(wanted),
  );
}
