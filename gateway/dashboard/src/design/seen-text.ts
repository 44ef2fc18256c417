// Splits a text into what is seen and signs for what is not: control characters, characters that turn the text around
// them, joiners that hide in words, and halves of pairs. Pure.

export interface SeenPart {
  readonly text: string;
  /** The name of what the sign replaces; null: the text itself. */
  readonly unseen: string | null;
}

const TURNING =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Surrogate}/u;

/** `lines`: line breaks and tabs stay. */
export function seenParts(text: string, lines: boolean): SeenPart[] {
  if (!TURNING.test(text)) return [{ text, unseen: null }];
  const parts: SeenPart[] = [];
  let plain = '';
  for (const character of text) {
    const stays = !TURNING.test(character) || (lines && (character === '\n' || character === '\t'));
    if (stays) {
      plain += character;
      continue;
    }
    if (plain !== '') parts.push({ text: plain, unseen: null });
    plain = '';
    parts.push(signOf(character));
  }
  if (plain !== '') parts.push({ text: plain, unseen: null });
  return parts;
}

function signOf(character: string): SeenPart {
  const code = character.codePointAt(0) ?? 0;
  const unseen = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  // Unicode has a picture of each of the first control characters.
  if (code < 0x20) return { text: String.fromCodePoint(0x2400 + code), unseen };
  return { text: code === 0x7f ? '\u2421' : '\u00b7', unseen };
}
