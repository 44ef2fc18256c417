// Looks for whole-number literals that a double cannot hold exactly. The parsed value does not show it:
// 9007199254740993 arrives as 9007199254740992, and 1e300 is a fine floating-point number.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;

/** `text` is valid JSON. A literal with a fraction or an exponent is a floating-point number and passes. */
export function hasUnsafeInteger(text: string): boolean {
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const end = endOfNumber(text, at);
      const literal = text.slice(at, end);
      if (!/[.eE]/.test(literal) && !Number.isSafeInteger(Number(literal))) return true;
      at = end;
    } else {
      at++;
    }
  }
  return false;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at + 1;
}

function endOfNumber(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && '0123456789.eE+-'.includes(text.charAt(at))) at++;
  return at;
}
