// Shortens a text without halving a character: half of a surrogate pair is not text, and databases and readers refuse
// JSON with it.

/** At most `charactersMax` UTF-16 units of the text's beginning. */
export function cutText(text: string, charactersMax: number): string {
  return text.length <= charactersMax ? text : wholeCharacters(text.slice(0, charactersMax));
}

/** At most `charactersMax` UTF-16 units of the text's end. */
export function textEnd(text: string, charactersMax: number): string {
  const from = Math.max(0, text.length - charactersMax);
  return text.slice(splitsPair(text, from) ? from + 1 : from);
}

/** Without the first half of a pair at its end. */
export function wholeCharacters(text: string): string {
  return isHigh(text.charCodeAt(text.length - 1)) ? text.slice(0, -1) : text;
}

/** True where the place is between the halves of a pair. */
export function splitsPair(text: string, at: number): boolean {
  return isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at));
}

// In Unicode mode a pair is one character, so only a half matches.
const LONE_SURROGATE = /\p{Surrogate}/u;
const LONE_SURROGATES = /\p{Surrogate}/gu;

export function isWellFormed(text: string): boolean {
  return !LONE_SURROGATE.test(text);
}

/** Halves of pairs replaced, for texts that are shown and not refused. */
export function wellFormed(text: string): string {
  return text.replace(LONE_SURROGATES, '\ufffd');
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
