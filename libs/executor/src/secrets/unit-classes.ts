// The class of each character in encoded bytes: a digit, a gap between digits, or neither.

/** A form encoder writes a blank as a plus. */
export function folded(code: number): number {
  return code === 43 ? 32 : code;
}

export const GAP = 64;
export const NEITHER = 65;
/** The `x` of `0x61`. */
export const X = 66;

/** Those of base64url are the same digits as those of base64. */
export const DIGITS = classes(' \t\r\n', (code) => {
  if (code >= 65 && code <= 90) return code - 65;
  if (code >= 97 && code <= 122) return code - 71;
  if (code >= 48 && code <= 57) return code + 4;
  if (code === 43 || code === 45) return 62;
  return code === 47 || code === 95 ? 63 : NEITHER;
});

export const HEX = classes(' \t\r\n:-_,.;|\'"\\[](){}<>', (code) => {
  if (code >= 48 && code <= 57) return code - 48;
  if ((code >= 65 && code <= 70) || (code >= 97 && code <= 102)) return (code & 31) + 9;
  return (code | 32) === 120 ? X : NEITHER;
});

export const NUMBERS = classes(' \t\r\n,;[](){}', (code) => (code >= 48 && code <= 57 ? code - 48 : NEITHER));

/** By UTF-16 code, so that a pass over a text checks no ranges. */
function classes(gaps: string, classOfCode: (code: number) => number): Uint8Array {
  const classOf = new Uint8Array(65_536).fill(NEITHER);
  for (let code = 0; code < 128; code++) {
    classOf[code] = gaps.includes(String.fromCharCode(code)) ? GAP : classOfCode(code);
  }
  return classOf;
}

// All properties of a character that a pass over a text needs, in one number: in bits 8 to 13 its digit of base64 and
// in 16 to 19 that of hex, 0 where it is none, and the marks below.

export const IS_DIGIT = 1 << 14;
/** A digit of base64, or a gap between two. */
export const KEEPS_DIGITS = 1 << 15;
export const IS_NIBBLE = 1 << 20;
export const KEEPS_HEX = 1 << 21;
export const IS_X = 1 << 22;
export const IS_DECIMAL = 1 << 23;
export const IS_NUMBER_GAP = 1 << 24;
export const IS_BREAK = 1 << 25;
export const IS_BLANK = 1 << 26;

/** By UTF-16 code. */
export const MARKS = Int32Array.from({ length: 65_536 }, (_, code) => {
  const [digit, nibble, number] = [DIGITS[code] as number, HEX[code] as number, NUMBERS[code] as number];
  return (
    (digit < GAP ? (digit << 8) | IS_DIGIT : 0) |
    (digit === NEITHER ? 0 : KEEPS_DIGITS) |
    (nibble < 16 ? (nibble << 16) | IS_NIBBLE : 0) |
    (nibble === NEITHER ? 0 : KEEPS_HEX) |
    (nibble === X ? IS_X : 0) |
    (number < GAP ? IS_DECIMAL : 0) |
    (number === GAP ? IS_NUMBER_GAP : 0) |
    (code === 10 || code === 13 ? IS_BREAK : 0) |
    (code === 32 || code === 9 ? IS_BLANK : 0)
  );
});

// The way back from the last of some units to the first of them. A pass over a text does not record where each unit
// begins: only one in many thousands is needed.

/** Where the character begins that is `count` characters before `index`; breaks of lines and indents do not count. */
export function charactersBack(codes: Uint16Array, index: number, count: number): number {
  let at = index;
  for (let left = count; left > 0 && at > 0; left--) at = beforeBreak(codes, at) - 1;
  return Math.max(at, 0);
}

/** `index`, or the place before the line break and the indent that end there. */
function beforeBreak(codes: Uint16Array, index: number): number {
  let at = index;
  for (;;) {
    let indent = at;
    while (codes[indent - 1] === 32 || codes[indent - 1] === 9) indent--;
    if (codes[indent - 1] !== 10 && codes[indent - 1] !== 13) return at;
    at = indent;
    while (codes[at - 1] === 10 || codes[at - 1] === 13) at--;
  }
}

/** The place of the digit that is `count` digits before `index`, with gaps between them. */
export function digitsBack(codes: Uint16Array, index: number, count: number, classes: Uint8Array): number {
  let at = index;
  for (let left = count; left > 0 && at > 0; ) {
    const digit = classes[codes[--at] as number] as number;
    if (digit < GAP) left--;
    else if (digit === X && codes[at - 1] === 48) at--;
  }
  return at;
}

/** The place of the number that is `count` numbers before `index`. */
export function numbersBack(codes: Uint16Array, index: number, count: number): number {
  let at = index;
  for (let left = count; left > 0 && at > 0; left--) {
    while (at > 0 && (NUMBERS[codes[at - 1] as number] as number) >= GAP) at--;
    while (at > 0 && (NUMBERS[codes[at - 1] as number] as number) < GAP) at--;
  }
  return at;
}
