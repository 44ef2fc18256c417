// Shortens a text without halving a character: half of a surrogate pair is no text, and JSON of it is refused by
// databases and readers.

/** At most `charactersMax` UTF-16 units of the text's beginning. */
export function cutText(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  return text.slice(0, splitsPair(text, charactersMax) ? charactersMax - 1 : charactersMax);
}

/** True where the place lies between the halves of a pair. */
function splitsPair(text: string, at: number): boolean {
  return isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at));
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
