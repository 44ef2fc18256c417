// What each character is among the digits that bytes are written with: a digit, a gap between digits, or neither.

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

/** All three, a byte each. */
export const CLASSES = Uint32Array.from(DIGITS, (digit, code) => {
  return digit | ((HEX[code] as number) << 8) | ((NUMBERS[code] as number) << 16);
});

/** By UTF-16 code, so that a pass over a text asks for no range. */
function classes(gaps: string, classOfCode: (code: number) => number): Uint8Array {
  const classOf = new Uint8Array(65_536).fill(NEITHER);
  for (let code = 0; code < 128; code++) {
    classOf[code] = gaps.includes(String.fromCharCode(code)) ? GAP : classOfCode(code);
  }
  return classOf;
}
